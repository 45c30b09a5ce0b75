import assert from 'node:assert/strict';
import type { KubeClient, KubeRequest } from '../../pkg/kube/client.ts';
import { eventually } from '../poll.ts';
import { applyRoot, clientsOf, create, find, gatewayPath, patch, tenantNamed, tenantPath, type Clients } from './client.ts';
import { sharedCluster } from './cluster.ts';

const mergePatch = 'application/merge-patch+json';
const rbac = 'rbac.authorization.k8s.io';
const bindingsPath = (namespace: string): string => `/apis/${rbac}/v1/namespaces/${namespace}/rolebindings`;

/** In each place there is a Tenant `spare` that has nobody below it. */
const places = ['tenant-root', 'tenant-people', 'tenant-people-dev', 'tenant-strangers'];
const ownTree = ['tenant-people', 'tenant-people-dev'];

const change = (namespace: string, body: object): KubeRequest => ({ method: 'PATCH', path: tenantPath(namespace, 'spare'), contentType: mergePatch, body });
const member = (namespace: string, roleName: string): KubeRequest => ({
  method: 'POST',
  path: bindingsPath(namespace),
  body: { metadata: { name: 'member' }, roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: roleName }, subjects: [{ apiGroup: rbac, kind: 'User', name: 'bob' }] },
});
const actions = {
  'see tenants': (namespace: string): KubeRequest => ({ path: tenantPath(namespace) }),
  'create a tenant': (namespace: string): KubeRequest => ({ method: 'POST', path: tenantPath(namespace), body: tenantNamed('new') }),
  'cordon a tenant': (namespace: string): KubeRequest => change(namespace, { metadata: { labels: { 'projectcapsule.dev/cordoned': 'true' } } }),
  'give a tenant what is left': (namespace: string): KubeRequest => change(namespace, { spec: { resourceQuotas: { cpu: 1 } } }),
  'give a tenant more': (namespace: string): KubeRequest => change(namespace, { spec: { resourceQuotas: { cpu: 1000 } } }),
  'give a tenant a host': (namespace: string): KubeRequest => change(namespace, { spec: { host: 'mine.test' } }),
  'write what a tenant is': (namespace: string): KubeRequest => ({ ...change(namespace, { status: { host: 'mine.test' } }), path: tenantPath(namespace, 'spare', 'status') }),
  'delete a tenant': (namespace: string): KubeRequest => ({ method: 'DELETE', path: tenantPath(namespace, 'spare') }),
  'see gateways': (namespace: string): KubeRequest => ({ path: gatewayPath(namespace) }),
  'make a gateway': (namespace: string): KubeRequest => ({ method: 'POST', path: gatewayPath(namespace), body: { apiVersion: 'gateway.cozystack.io/v1alpha1', kind: 'TenantGateway', metadata: { name: 'mine' }, spec: { apex: 'mine.test' } } }),
  'take in a member': (namespace: string): KubeRequest => member(namespace, 'cozy:tenant:use'),
  'take in an owner': (namespace: string): KubeRequest => member(namespace, 'cozy:tenant:super-admin'),
  'make an administrator of the cluster': (namespace: string): KubeRequest => member(namespace, 'cluster-admin'),
  'see who is a member': (namespace: string): KubeRequest => ({ path: bindingsPath(namespace) }),
  'read secrets': (namespace: string): KubeRequest => ({ path: `/api/v1/namespaces/${namespace}/secrets` }),
  'open the network': (namespace: string): KubeRequest => ({ method: 'DELETE', path: `/apis/networking.k8s.io/v1/namespaces/${namespace}/networkpolicies/tenant-ingress` }),
  'raise the quota by hand': (namespace: string): KubeRequest => ({ method: 'DELETE', path: `/api/v1/namespaces/${namespace}/resourcequotas/tenant-quota` }),
} as const;
type Action = keyof typeof actions;

// Real requests, as somebody else and in a dry run, through the kube-apiserver to the server and to itself.
describe('personas', function () {
  this.timeout(120_000);
  let clients: Clients;
  before(async function () {
    this.timeout(20 * 60_000); // the components may have to be built
    clients = await clientsOf(await sharedCluster());
    const { front } = clients;
    await applyRoot(front);
    await made(front, 'tenant-root', 'people', { resourceQuotas: { cpu: 4 } });
    await made(front, 'tenant-root', 'strangers', {});
    await made(front, 'tenant-people', 'dev', {});
    for (const place of places) await made(front, place, 'spare', {});
    await eventually('the roles hold', async () => (await answer('alice', 'tenant-people-super-admin', actions['see who is a member']('tenant-people-dev'))) === 200);
    await eventually('they hold from above', async () => (await answer('alice', 'tenant-root-super-admin', actions['see tenants']('tenant-root'))) === 200);
    await eventually('a budget is there', () => find(front, '/api/v1/namespaces/tenant-people/resourcequotas/tenant-quota'));
  });
  after(async () => {
    for (const name of ['people', 'strangers', 'spare']) {
      await patch(clients.front, tenantPath('tenant-root', name), { metadata: { annotations: { 'tenant.cozystack.io/deletion-policy': 'cascade' } } });
      await clients.front.request({ method: 'DELETE', path: tenantPath('tenant-root', name) });
    }
    clients.close();
  });

  const made = async (front: KubeClient, namespace: string, name: string, spec: object): Promise<void> => {
    await create(front, tenantPath(namespace), { ...tenantNamed(name), spec });
    await eventually(`the namespace of ${name}`, () => find(front, `/api/v1/namespaces/${namespace === 'tenant-root' ? 'tenant' : namespace}-${name}`));
  };
  const answer = async (user: string, group: string, request: KubeRequest): Promise<number> => {
    const { method = 'GET' } = request;
    return (await clients.front.request({ ...request, ...(method !== 'GET' && { query: { dryRun: 'All' } }), headers: { 'impersonate-user': user, 'impersonate-group': group } })).status;
  };

  const seeing: Action[] = ['see tenants', 'see gateways'];
  const owning: Action[] = [...seeing, 'create a tenant', 'cordon a tenant', 'give a tenant what is left', 'delete a tenant', 'take in a member', 'take in an owner', 'see who is a member'];
  const everything = Object.keys(actions).filter((action) => action !== 'give a tenant more') as Action[];
  for (const { who, group, allowed } of [
    { who: 'a platform administrator', group: 'system:masters', allowed: { [places.join()]: everything } },
    { who: 'the owner of a tree', group: 'tenant-people-super-admin', allowed: { [ownTree.join()]: owning } },
    { who: 'the owner of a tree within it', group: 'tenant-people-dev-super-admin', allowed: { 'tenant-people-dev': owning } },
    { who: 'the owner of another tree', group: 'tenant-strangers-super-admin', allowed: { 'tenant-strangers': owning } },
    { who: 'the owner of root', group: 'tenant-root-super-admin', allowed: { [places.join()]: owning } },
    { who: 'an admin', group: 'tenant-people-admin', allowed: { [ownTree.join()]: seeing } },
    { who: 'a user', group: 'tenant-people-use', allowed: { [ownTree.join()]: seeing } },
    { who: 'a viewer', group: 'tenant-people-view', allowed: { [ownTree.join()]: seeing } },
    { who: 'a member of no group', group: 'tenant-people', allowed: {} },
  ] as { who: string; group: string; allowed: Record<string, Action[]> }[]) {
    it(`${who} may do what the table says where it says, and no more`, async () => {
      const found: string[] = [];
      for (const action of Object.keys(actions) as Action[]) {
        for (const place of places) {
          const code = await answer('alice', group, actions[action](place));
          // What does not exist in a place can be found missing only by who may look.
          if (code < 300 || code === 404) found.push(`${action} in ${place}`);
          else if (code !== 403) assert.deepEqual([action, code], ['give a tenant more', 422]);
        }
      }
      const unbounded = (action: Action, place: string): boolean => action === 'give a tenant more' && (place === 'tenant-root' || place === 'tenant-strangers');
      const expected = Object.entries(allowed).flatMap(([where, what]) =>
        where.split(',').flatMap((place) => [...what, 'give a tenant more' as const].filter((action) => action !== 'give a tenant more' || (what.includes('give a tenant what is left') && unbounded(action, place))).map((action) => `${action} in ${place}`)),
      );
      assert.deepEqual(found.toSorted(), expected.toSorted());
    });
  }

  it('whom an owner takes in may do what the binding says, there alone', async () => {
    const as = { 'impersonate-user': 'olga', 'impersonate-group': 'tenant-people-super-admin' };
    await clients.front.json({ ...member('tenant-people', 'cozy:tenant:view'), headers: as });
    const sees = (place: string): Promise<number> => answer('bob', 'system:authenticated', actions['see tenants'](place));
    await eventually('it holds', async () => (await sees('tenant-people')) === 200);
    assert.deepEqual([await sees('tenant-people-dev'), await sees('tenant-root')], [403, 403]);
    await clients.front.json({ method: 'DELETE', path: `${bindingsPath('tenant-people')}/member`, headers: as });
    await eventually('it is over', async () => (await sees('tenant-people')) === 403);
  });

  it('an owner who takes the binding of those above away has it back at once', async () => {
    const as = { 'impersonate-user': 'dora', 'impersonate-group': 'tenant-people-dev-super-admin' };
    const path = `${bindingsPath('tenant-people-dev')}/cozy:tenant:super-admin`;
    const { uid } = (await find(clients.front, path))!.metadata;
    await clients.front.json({ method: 'DELETE', path, headers: as });
    await eventually('it is back', async () => ![undefined, uid].includes((await find(clients.front, path))?.metadata.uid));
  });
});
