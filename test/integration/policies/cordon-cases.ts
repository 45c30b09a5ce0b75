import { changeAt, remove, type Attempt, type Case, type Verdict, type Who } from './cases.ts';

const namespace = 'tenant-cordoned';
const core = `/api/v1/namespaces/${namespace}`;
const deployment = `/apis/apps/v1/namespaces/${namespace}/deployments/kept`;
const make = (collection: string, rest: object = {}): Attempt => ({ method: 'POST', path: `${collection}?dryRun=All`, body: { metadata: { name: 'attempt' }, ...rest } });
const frozen: Verdict = {
  policy: 'tenant-apiserver-cordon',
  says: `the tenant of namespace ${namespace} or one above it is cordoned, and nothing changes in the namespace as long as it is; condition Cordoned of the Tenant names which, and projectcapsule.dev/cordoned is taken off there`,
};
const stays: Verdict = {
  policy: 'tenant-apiserver-cordon',
  says: `the tenant of namespace ${namespace} or one above it is cordoned, and the namespace is not deleted as long as it is; condition Cordoned of the Tenant names which, and projectcapsule.dev/cordoned is taken off there`,
};

export const cordonAttack = make(`${core}/configmaps`);

/** Before its namespace is cordoned. */
export const plantedInCordoned: [path: string, body: object][] = [
  [`${core}/configmaps`, { metadata: { name: 'kept' } }],
  [`${core}/configmaps`, { metadata: { name: 'ending', finalizers: ['example.org/held'] } }],
  [
    `/apis/apps/v1/namespaces/${namespace}/deployments`,
    { metadata: { name: 'kept' }, spec: { replicas: 0, selector: { matchLabels: { app: 'kept' } }, template: { metadata: { labels: { app: 'kept' } }, spec: { containers: [{ name: 'main', image: 'none.invalid/main' }] } } } },
  ],
];

/** What a cordon keeps as it is, and who goes on. */
export const cordonCases: Case[] = [
  ...(['administrator', 'a cluster administrator', 'an app chart'] as Who[]).map((as): Case => ({ name: `something new, by ${as}`, as, attempt: cordonAttack, verdict: frozen })),
  { name: 'a change', attempt: changeAt(`${core}/configmaps/kept`, { data: { a: 'b' } }), verdict: frozen },
  { name: 'a deletion', attempt: remove(`${core}/configmaps/kept`), verdict: frozen },
  ...(['administrator', 'a cluster administrator', 'an app chart'] as Who[]).map((as): Case => ({ name: `the end of the namespace, by ${as}`, as, attempt: remove(core), verdict: stays })),
  ...(['the server', 'the garbage collector', 'a ServiceAccount of cozy-fluxcd'] as Who[]).map((as): Case => ({ name: `the end of the namespace, by ${as}`, as, attempt: remove(core), verdict: 'allowed' })),
  { name: 'the end of another namespace', attempt: remove('/api/v1/namespaces/tenant-customer'), verdict: 'allowed' },
  { name: 'a label of the namespace', attempt: changeAt(core, { metadata: { labels: { team: 'web' } } }), verdict: 'allowed' },
  { name: 'a scale', attempt: changeAt(`${deployment}/scale`, { spec: { replicas: 1 } }), verdict: frozen },
  { name: 'what is ending, on its way out', attempt: changeAt(`${core}/configmaps/ending`, { metadata: { finalizers: null } }), verdict: 'allowed' },
  { name: 'a status', attempt: changeAt(`${deployment}/status`, { status: { replicas: 0 } }), verdict: 'allowed' },
  { name: 'a Lease', as: 'an app chart', attempt: make(`/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`), verdict: 'allowed' },
  { name: 'an Event', as: 'an app chart', attempt: make(`${core}/events`, { involvedObject: { namespace, kind: 'Pod', name: 'one' } }), verdict: 'allowed' },
  ...(['the garbage collector', 'the namespace controller', 'a ServiceAccount of kube-system', 'a ServiceAccount of cozy-fluxcd'] as Who[]).map(
    (as): Case => ({ name: `something new, by ${as}`, as, attempt: cordonAttack, verdict: 'allowed' }),
  ),
];
