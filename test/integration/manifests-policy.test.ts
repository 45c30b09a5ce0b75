import assert from 'node:assert/strict';
import type { Answer } from '../../hack/controlplane/request.ts';
import type { ControlPlane } from '../../hack/controlplane/controlplane.ts';
import { applyManifests } from '../../hack/manifests/apply.ts';
import { eventually } from '../poll.ts';
import { collectorPatience } from './collector-world.ts';
import { ownControlPlane } from './shared.ts';

const users = {
  server: 'system:serviceaccount:cozy-system:tenant-apiserver',
  'garbage collector': 'system:serviceaccount:kube-system:generic-garbage-collector',
  'namespace controller': 'system:serviceaccount:kube-system:namespace-controller',
} as const;
type User = keyof typeof users | 'administrator';

const kinds = {
  tenantrecords: { kind: 'TenantRecord', spec: {}, otherSpec: { host: 'other.example.org' }, instead: 'tenants.apps.cozystack.io' },
  tenantgatewayrecords: { kind: 'TenantGatewayRecord', spec: { apex: 'example.org' }, otherSpec: { apex: 'other.example.org' }, instead: 'tenantgateways.gateway.cozystack.io' },
} as const;
type Plural = keyof typeof kinds;
const plurals = Object.keys(kinds) as Plural[];

const finalizer = 'example.org/held';

describe('policy for records', function () {
  this.timeout(90_000);
  let controlPlane: ControlPlane;
  let count = 0;
  before(async function () {
    this.timeout(20 * 60_000); // the components may have to be built
    controlPlane = await ownControlPlane();
    const { kubectlPath, kubeconfigPath } = controlPlane;
    await applyManifests({ kubectlPath, kubeconfigPath, overlay: 'overlays/local' });
    // Without a server behind them, no namespace could be deleted.
    for (const name of ['v1alpha1.apps.cozystack.io', 'v1alpha1.gateway.cozystack.io']) await as('administrator', 'DELETE', `/apis/apiregistration.k8s.io/v1/apiservices/${name}`);
    await create('/api/v1/namespaces', { metadata: { name: 'records' } });
    await eventually('the policy works', async () => (await as('administrator', 'POST', `${collection('tenantrecords')}?dryRun=All`, record('tenantrecords', 'refused'))).status === 403);
  });
  after(() => controlPlane?.stop());

  const as = (user: User, method: string, path: string, body?: unknown, type = 'application/json'): Promise<Answer> => {
    const headers: Record<string, string> = { 'content-type': type };
    if (user !== 'administrator') headers['impersonate-user'] = users[user];
    return controlPlane.request({ method, path, body, headers: body === undefined && user === 'administrator' ? {} : headers });
  };
  const patch = (user: User, path: string, body: unknown): Promise<Answer> => as(user, 'PATCH', path, body, 'application/merge-patch+json');
  const collection = (plural: Plural, namespace = 'records'): string => `/apis/records.cozystack.io/v1alpha1/namespaces/${namespace}/${plural}`;
  const record = (plural: Plural, name: string, metadata: object = {}): object =>
    ({ apiVersion: 'records.cozystack.io/v1alpha1', kind: kinds[plural].kind, metadata: { name, ...metadata }, spec: kinds[plural].spec });
  const create = async (path: string, body: unknown, user: User = 'administrator'): Promise<any> => {
    const answer = await as(user, 'POST', path, body);
    assert.equal(answer.status, 201, answer.text);
    return answer.json();
  };
  /** A new record that is held by a finalizer, and its path. */
  const created = async (plural: Plural, metadata: object = {}, namespace?: string): Promise<string> => {
    const name = `record-${(count += 1)}`;
    await create(collection(plural, namespace), record(plural, name, { finalizers: [finalizer], ...metadata }), 'server');
    return `${collection(plural, namespace)}/${name}`;
  };
  const isDenied = (answer: Answer, plural: Plural): void => {
    assert.equal(answer.status, 403);
    const { reason, message } = answer.json();
    assert.equal(reason, 'Forbidden');
    assert.ok(message.includes(`only the server writes it; use ${kinds[plural].instead} instead`), message);
  };
  const isGone = async (path: string): Promise<boolean> => (await as('administrator', 'GET', path)).status === 404;
  const ownerReference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'nobody', uid: '9d1b5e0e-0000-4000-8000-000000000000' };

  for (const plural of plurals) {
    const { otherSpec } = kinds[plural];
    describe(plural, () => {
      it('the server creates, changes, applies and deletes, in status too', async () => {
        const path = await created(plural);
        for (const answer of [
          await patch('server', path, { spec: otherSpec, metadata: { labels: { a: 'b' } } }),
          await patch('server', `${path}/status`, { status: { conditions: [] } }),
          await as('server', 'PATCH', `${path}?fieldManager=test&force=true`, record(plural, path.split('/').at(-1)!), 'application/apply-patch+yaml'),
          await as('server', 'DELETE', path),
          await patch('server', path, { metadata: { finalizers: null } }),
        ]) assert.equal(answer.status, 200, answer.text);
      });

      for (const { what, write } of [
        { what: 'create', write: () => as('administrator', 'POST', collection(plural), record(plural, 'not-mine')) },
        { what: 'create by apply', write: () => as('administrator', 'PATCH', `${collection(plural)}/not-mine?fieldManager=test`, record(plural, 'not-mine'), 'application/apply-patch+yaml') },
        { what: 'change', write: (path: string) => patch('administrator', path, { spec: otherSpec }) },
        { what: 'label', write: (path: string) => patch('administrator', path, { metadata: { labels: { a: 'b' } } }) },
        { what: 'remove finalizers of', write: (path: string) => patch('administrator', path, { metadata: { finalizers: null } }) },
        { what: 'write the status of', write: (path: string) => patch('administrator', `${path}/status`, { status: { conditions: [] } }) },
        { what: 'delete', write: (path: string) => as('administrator', 'DELETE', path) },
        { what: 'delete a collection of', write: () => as('administrator', 'DELETE', collection(plural)) },
      ]) {
        it(`an administrator does not ${what}`, async () => isDenied(await write(await created(plural)), plural));
      }

      it('the garbage collector changes finalizers and owner references, and deletes', async () => {
        const path = await created(plural);
        for (const answer of [
          await patch('garbage collector', path, { metadata: { finalizers: [finalizer, 'foregroundDeletion'] } }),
          await patch('garbage collector', path, { metadata: { ownerReferences: [ownerReference] } }),
          await patch('garbage collector', path, { metadata: { ownerReferences: null } }),
          await as('garbage collector', 'DELETE', path),
          await patch('garbage collector', path, { metadata: { finalizers: null } }),
        ]) assert.equal(answer.status, 200, answer.text);
        assert.equal((await as('administrator', 'GET', path)).status, 404);
      });

      for (const { what, body } of [
        { what: 'spec', body: { spec: otherSpec } },
        { what: 'labels', body: { metadata: { labels: { a: 'b' } } } },
        { what: 'annotations, even together with finalizers', body: { metadata: { annotations: { a: 'b' }, finalizers: null } } },
      ]) it(`the garbage collector does not change ${what}`, async () => isDenied(await patch('garbage collector', await created(plural), body), plural));

      it('the garbage collector does not take labels away', async () => isDenied(await patch('garbage collector', await created(plural, { labels: { a: 'b' } }), { metadata: { labels: null } }), plural));

      it('the namespace controller deletes one and all', async () => {
        const path = await created(plural, { finalizers: [] });
        assert.equal((await as('namespace controller', 'DELETE', path)).status, 200);
        assert.equal((await as('namespace controller', 'DELETE', collection(plural))).status, 200);
      });
    });
  }

  // In a suite of its own, since a suite's own tests run before those of its suites.
  describe('with the controllers at work', () => {
    it('lets the real garbage collector delete and orphan records', async function () {
      this.timeout(300_000);
      const path = '/api/v1/namespaces/records/configmaps';
      for (const { name, propagationPolicy, isDone } of [
        { name: 'taken-along', propagationPolicy: 'Background', isDone: isGone },
        { name: 'waited-for', propagationPolicy: 'Foreground', isDone: isGone },
        { name: 'left-behind', propagationPolicy: 'Orphan', isDone: async (it: string) => (await as('administrator', 'GET', it)).json().metadata.ownerReferences === undefined },
      ]) {
        const { metadata } = await create(path, { metadata: { name } });
        const owned = await created('tenantrecords', { finalizers: [], ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name, uid: metadata.uid, blockOwnerDeletion: true }] });
        await as('administrator', 'DELETE', `${path}/${name}`, { propagationPolicy });
        await eventually(`${propagationPolicy} deletion`, () => isDone(owned), collectorPatience);
        await eventually('the owner is gone', () => isGone(`${path}/${name}`), collectorPatience);
      }
    });

    it('lets the real namespace controller empty a namespace', async () => {
      await create('/api/v1/namespaces', { metadata: { name: 'emptied' } });
      for (const plural of plurals) await created(plural, { finalizers: [] }, 'emptied');
      await as('administrator', 'DELETE', '/api/v1/namespaces/emptied');
      await eventually('the namespace is gone', () => isGone('/api/v1/namespaces/emptied'));
    });

    it('is broken like glass by deleting its binding', async () => {
      const binding = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings/tenant-apiserver-records';
      const path = await created('tenantrecords');
      assert.equal((await as('administrator', 'DELETE', binding)).status, 200);
      await eventually('the administrator repairs a record', async () => (await patch('administrator', path, { spec: kinds.tenantrecords.otherSpec })).status === 200);
    });
  });
});
