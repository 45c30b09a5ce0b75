import assert from 'node:assert/strict';
import type { KubeList } from '../../api/meta/v1/types.ts';
import { hasCode } from '../../pkg/kube/status-error.ts';
import { Reflector } from '../../pkg/kube/reflector.ts';
import { fenceName } from '../../pkg/storage/records/fence-object.ts';
import { eventually } from '../poll.ts';
import { clientsOf, create, patch, tenantNamed, tenantPath, tenantRecordNamed, tenantRecordPath, Watch, type Clients } from './client.ts';
import { makeNamespace, ownCluster, type Cluster } from './cluster.ts';
import { change, lastName, missOf, reads, type Writer } from './freshness-trials.ts';

const trials = 200;
/** A second for the fence, and the host's own answer. */
const boundMs = 5_000;

const refusal = (expression: string): object[] => [
  {
    apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingAdmissionPolicy', metadata: { name: 'no-fence' },
    spec: {
      matchConstraints: { resourceRules: [{ apiGroups: ['records.cozystack.io'], apiVersions: ['*'], resources: ['*'], operations: ['CREATE', 'UPDATE'] }] },
      validations: [{ expression }],
    },
  },
  { apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingAdmissionPolicyBinding', metadata: { name: 'no-fence' }, spec: { policyName: 'no-fence', validationActions: ['Deny'] } },
];

describe('freshness where the fence cannot be written', () => {
  let cluster: Cluster;
  let clients: Clients;
  let namespace: string;
  before(async function () {
    this.timeout(20 * 60_000); // the components may have to be built
    cluster = await ownCluster();
    clients = await clientsOf(cluster);
    namespace = await makeNamespace(cluster, 'unfenced');
    await create(clients.front, tenantPath(namespace), tenantNamed(lastName));
    for (const object of refusal(`object.metadata.name != '${fenceName}'`)) await cluster.kubectl.run(['create', '-f', '-'], { input: JSON.stringify(object) });
    await eventually('a watch cannot be confirmed', () => Watch.open(clients.server, tenantPath(namespace), { timeoutSeconds: 1 }).then(() => false, (error) => hasCode(error, 503)));
  });
  after(async () => {
    clients?.close();
    await cluster?.server.stop();
    await cluster?.controlPlane.stop();
  });

  it(`shows in ${trials} lists, which the host answers, each write that was acknowledged before they began, and in time`, async function () {
    this.timeout(120_000);
    const writers: Writer[] = [
      { name: 'records directly', client: clients.records, path: tenantRecordPath, object: tenantRecordNamed },
      { name: 'kube-apiserver', client: clients.front, path: tenantPath, object: tenantNamed },
    ];
    const lists = reads.filter(([form]) => !form.startsWith('watch'));
    const misses: string[] = [];
    let begun = 0;
    let slowestMs = 0;
    await Promise.all(Array.from({ length: 8 }, async (_, worker) => {
      for (let turn = 0; begun < trials; turn += 1) {
        for (const verb of ['create', 'update', 'delete'] as const) {
          const at = (begun += 1);
          const [form, read] = lists[(at * 7 + worker) % lists.length]!;
          const made = await change(writers[at % 2]!, verb, namespace, `w${worker}t${turn}`);
          const sent = performance.now();
          const miss = missOf(made, await read(at % 3 ? clients.front : clients.server, namespace, made));
          slowestMs = Math.max(slowestMs, performance.now() - sent);
          if (miss) misses.push(`${verb}, ${form}: ${miss}`);
        }
      }
    }));
    console.log(`      ${begun} trials, ${misses.length} misses, the slowest list took ${Math.round(slowestMs)} ms`);
    assert.deepEqual(misses, []);
    assert.ok(slowestMs < boundMs, `${slowestMs} ms`);
  });

  it('shows no fence', async () => {
    const { items } = await clients.front.json<KubeList>({ path: tenantPath('cozy-system') });
    assert.deepEqual(items, []);
  });

  for (const { what, query } of [
    { what: 'watch', query: {} },
    { what: 'watch-list', query: { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan', allowWatchBookmarks: true } },
  ]) {
    it(`refuses a ${what} without a version rather than begin with an old state`, async () => {
      const began = performance.now();
      await assert.rejects(Watch.open(clients.server, tenantPath(namespace), { ...query, timeoutSeconds: 1 }), (error) => hasCode(error, 503) && error.status.details?.retryAfterSeconds === 1);
      assert.ok(performance.now() - began < boundMs);
    });
  }

  it('gives a client that lists and then watches all that it needs', async () => {
    const held = new Map<string, string>();
    const reflector = new Reflector(
      { client: clients.front, path: tenantPath(namespace), labelSelector: 'content' },
      {
        replace: (items) => items.forEach(({ metadata }) => held.set(metadata.name!, metadata.resourceVersion!)),
        event: (_type, { metadata }) => held.set(metadata.name!, metadata.resourceVersion!),
      },
    );
    await create(clients.front, tenantPath(namespace), tenantNamed('listed', { labels: { content: '' } }));
    reflector.start();
    await eventually('the list is there', () => held.has('listed'));
    await create(clients.front, tenantPath(namespace), tenantNamed('watched', { labels: { content: '' } }));
    const { metadata } = await patch(clients.front, tenantPath(namespace, 'watched'), { metadata: { labels: { content: 'more' } } });
    await eventually('the change is there', () => Number(held.get('watched')) >= Number(metadata.resourceVersion));
    await reflector.stop();
  });

  it('lets kubectl watch', async () => {
    const printed = await cluster.kubectl.run(['get', 'tenants', '-n', namespace, '--watch', '-o', 'name', '--request-timeout=3s']).catch((error: Error) => error.message);
    assert.match(printed, new RegExp(`tenant.apps.cozystack.io/${lastName}`));
  });
});
