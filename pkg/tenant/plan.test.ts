import assert from 'node:assert/strict';
import { describe, it } from 'mocha';
import type { Tenant } from '../../api/apps/v1alpha1/tenant.ts';
import type { KubeObject } from '../../api/meta/v1/types.ts';
import { nothing } from './inheritance.ts';
import { cleanupFinalizer } from './names.ts';
import { bareSurroundings } from './fake-cluster.ts';
import { partKey, type PartKind } from './part.ts';
import type { Action, Observed } from './observed.ts';
import { plan } from './plan.ts';

const namespace = (name: string, uid: string, labels: Record<string, string> = {}, rest: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name, uid, labels: { 'app.kubernetes.io/managed-by': 'tenant-apiserver', ...labels }, ...rest },
});
const parent = namespace('tenant-root', 'ns-root');
const own = namespace('tenant-acme', 'ns-acme', { 'tenant.cozystack.io/uid': 'acme' });
const ended = { deletionTimestamp: '2026-11-30T12:00:00Z' };
const gateway = (owner = 'ns-acme', rest: object = {}): KubeObject => ({
  apiVersion: 'gateway.cozystack.io/v1alpha1',
  kind: 'TenantGateway',
  metadata: { name: 'cozystack', namespace: 'tenant-acme', uid: 'tgw', ownerReferences: [{ apiVersion: 'v1', kind: 'Namespace', name: 'tenant-acme', uid: owner, controller: true }], ...rest },
});

const observed = (change: Partial<Observed> = {}, spec: object = {}, meta: object = {}): Observed => ({
  tenant: {
    apiVersion: 'apps.cozystack.io/v1alpha1',
    kind: 'Tenant',
    metadata: { namespace: 'tenant-root', name: 'acme', uid: 'acme', generation: 1, finalizers: [cleanupFinalizer], ...meta },
    spec,
  },
  parent: { state: 'ready', namespace: parent },
  inherited: { ...nothing, host: 'acme.example.org' },
  namespace: own,
  gateway: undefined,
  children: [],
  cascades: false,
  releases: [],
  left: '',
  made: new Map(),
  surroundings: bareSurroundings,
  ...change,
});
const root = (change: Partial<Observed> = {}, meta: object = {}): Observed =>
  observed({ parent: { state: 'none' }, namespace: parent, ...change }, {}, { name: 'root', uid: 'root', ...meta });

const isOfPart = (action: Action): boolean => 'what' in action && !['tenant', 'namespace', 'gateway'].includes(action.what);
const made = (what: PartKind, object: KubeObject): Observed['made'] => new Map([[partKey(what, object), { what, object }]]);
const binding = (name: string, metadata: object): KubeObject => ({ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'RoleBinding', metadata: { name, namespace: 'tenant-acme', uid: name, ...metadata } });
const ofAcme = { ownerReferences: [{ apiVersion: 'v1', kind: 'Namespace', name: 'tenant-acme', uid: 'ns-acme', controller: true }] };
const ofRoot = { ownerReferences: [{ apiVersion: 'v1', kind: 'Namespace', name: 'tenant-root', uid: 'ns-root', controller: true }] };

const child = (name: string, metadata: object = {}): Tenant => ({ apiVersion: 'apps.cozystack.io/v1alpha1', kind: 'Tenant', metadata: { namespace: 'tenant-acme', name, uid: name, ...metadata } });

const short = (action: Action): string => ('what' in action ? `${action.do} ${action.what}` : action.do);

describe('plan for a tenant', () => {
  for (const { name, seen, does, says } of [
    { name: 'a new tenant gets its namespace and says nothing until it is seen', seen: observed({ namespace: undefined }), does: ['apply namespace'], says: undefined },
    { name: 'one without our finalizer gets it first', seen: observed({ namespace: undefined }, {}, { finalizers: ['theirs'] }), does: ['hold', 'apply namespace'], says: undefined },
    { name: 'a tenant with its namespace is ready', seen: observed(), does: ['apply namespace'], says: 'Reconciled' },
    { name: 'without a parent nothing is made', seen: observed({ parent: { state: 'missing' } }), does: [], says: 'ParentNotFound' },
    { name: 'below a parent that ends nothing is made', seen: observed({ parent: { state: 'ending' }, namespace: undefined }), does: [], says: 'ParentTerminating' },
    { name: 'a namespace that was not made by us is left alone', seen: observed({ namespace: { ...own, metadata: { name: 'tenant-acme', uid: 'x' } } }), does: [], says: 'NamespaceNotOwned' },
    { name: "another tenant's namespace is left alone", seen: observed({ namespace: namespace('tenant-acme', 'x', { 'tenant.cozystack.io/uid': 'former' }) }), does: [], says: 'NamespaceNotOwned' },
    { name: 'a mark alone does not make it ours', seen: observed({ namespace: namespace('tenant-acme', 'x') }), does: [], says: 'NamespaceNotOwned' },
    { name: 'a label taken off by hand is put back', seen: observed({ namespace: namespace('tenant-acme', 'x', {}, { ownerReferences: [{ uid: 'ns-root', controller: true }] }) }), does: ['apply namespace'], says: 'Reconciled' },
    { name: 'a namespace that ends is waited for', seen: observed({ namespace: { ...own, metadata: { ...own.metadata, ...ended } } }), does: [], says: 'NamespaceTerminating' },
    { name: 'a host that cannot be served is told', seen: observed({ inherited: { ...nothing, hostFault: 'no' } }), does: ['apply namespace'], says: 'InvalidHost' },
    { name: 'a quota that bounds nothing is told', seen: observed({}, { resourceQuotas: { foo: 1 } }), does: ['apply namespace'], says: 'InvalidQuota' },
    { name: 'a quota below nothing is told', seen: observed({}, { resourceQuotas: { cpu: '-1' } }), does: ['apply namespace'], says: 'InvalidQuota' },
    { name: 'a gateway stays when the host goes, with what was set on it', seen: observed({ inherited: nothing, gateway: gateway() }, { gateway: true }), does: ['apply namespace'], says: 'HostRequired' },
    { name: 'a gateway comes after the namespace', seen: observed({ namespace: undefined }, { gateway: true }), does: ['apply namespace'], says: undefined },
    { name: 'a gateway is made in it', seen: observed({}, { gateway: true }), does: ['apply namespace', 'apply gateway'], says: undefined },
    { name: 'a gateway that is there makes it ready', seen: observed({ gateway: gateway() }, { gateway: true }), does: ['apply namespace', 'apply gateway'], says: 'Reconciled' },
    { name: 'a gateway needs a host', seen: observed({ inherited: nothing }, { gateway: true }), does: ['apply namespace'], says: 'HostRequired' },
    { name: 'a gateway waits for values that can be done', seen: observed({ gateway: gateway(), surroundings: { ...bareSurroundings, platform: { values: { solver: 'x' } } } }, { gateway: true }), does: ['apply namespace'], says: 'InvalidGatewayValues' },
    { name: 'a gateway stays as it is while values cannot be read', seen: observed({ gateway: gateway(), surroundings: { ...bareSurroundings, handedDown: { fault: 'x' }, platform: { fault: 'x' } } }, { gateway: true }), does: ['apply namespace'], says: 'ValuesUnreadable' },
    { name: "somebody's gateway is left alone", seen: observed({ gateway: gateway('someone') }, { gateway: true }), does: ['apply namespace'], says: 'GatewayNotOwned' },
    { name: 'the gateway goes with the flag', seen: observed({ gateway: gateway() }), does: ['apply namespace', 'delete gateway'], says: 'Reconciled' },
    { name: "somebody's gateway stays without the flag", seen: observed({ gateway: gateway('someone') }), does: ['apply namespace'], says: 'Reconciled' },
    { name: 'deletion waits for children', seen: observed({ children: [child('dev'), child('prod')] }, {}, ended), does: [], says: 'ChildrenExist' },
    { name: 'or ends them where that was asked for', seen: observed({ children: [child('dev'), child('prod', ended)], cascades: true }, {}, ended), does: ['delete tenant'], says: 'Terminating' },
    { name: 'then the gateway goes', seen: observed({ gateway: gateway() }, { gateway: true }, ended), does: ['delete gateway'], says: 'Terminating' },
    { name: 'then the namespace', seen: observed({}, {}, ended), does: ['delete namespace'], says: 'Terminating' },
    { name: 'whose end is waited for', seen: observed({ namespace: { ...own, metadata: { ...own.metadata, ...ended } } }, {}, ended), does: [], says: 'Terminating' },
    { name: 'then the tenant', seen: observed({ namespace: undefined }, {}, ended), does: ['release'], says: undefined },
    { name: 'a foreign namespace is not deleted with it', seen: observed({ namespace: namespace('tenant-acme', 'x', { 'tenant.cozystack.io/uid': 'other' }) }, {}, ended), does: ['release'], says: undefined },
    { name: 'it goes although its parent is gone', seen: observed({ parent: { state: 'missing' } }, {}, ended), does: ['delete namespace'], says: 'Terminating' },
    { name: 'nothing is done for one that others hold', seen: observed({}, {}, { ...ended, finalizers: ['theirs'] }), does: [], says: undefined },
    { name: 'root fills its namespace', seen: root(), does: ['apply namespace'], says: 'Reconciled' },
    { name: 'root does not take over a foreign namespace', seen: root({ namespace: { ...parent, metadata: { name: 'tenant-root', uid: 'x' } } }), does: [], says: 'NamespaceNotOwned' },
    { name: 'root leaves its namespace when it goes', seen: root({}, ended), does: ['apply namespace', 'release'], says: undefined },
    { name: 'root waits for its children too', seen: root({ children: [child('acme')] }, ended), does: [], says: 'ChildrenExist' },
  ]) {
    it(name, () => {
      const { actions, verdict } = plan(seen);
      assert.deepEqual(actions.filter((action) => !isOfPart(action)).map(short), does);
      assert.equal(verdict?.reason, says);
      if (verdict) assert.equal(verdict.ready, says === 'Reconciled');
      assert.deepEqual(plan(seen), { actions, verdict });
    });
  }

  it('ends what the tenant no longer gets, and nothing that is not its own', () => {
    const deletes = (object: KubeObject): string[] =>
      plan(observed({ made: made('roleBinding', object) })).actions.filter((action) => action.do === 'delete').map(short);
    assert.deepEqual(deletes(binding('former', ofAcme)), ['delete roleBinding']);
    assert.deepEqual(deletes(binding('former', { ...ofAcme, deletionTimestamp: '2026-11-30T12:00:00Z' })), []);
    assert.deepEqual(deletes(binding('theirs', { labels: { 'app.kubernetes.io/managed-by': 'tenant-apiserver' } })), []);
    assert.deepEqual(deletes(binding('cozy:tenant:view', ofAcme)), []);
  });

  it('takes from root what it got, before the mark of its end goes', () => {
    const seen = root({ made: made('roleBinding', binding('cozy:tenant', ofRoot)) }, ended);
    const { actions, verdict } = plan(seen);
    assert.deepEqual(actions.map(short), ['delete roleBinding']);
    assert.match(verdict!.message, /waits for what the tenant has in namespace tenant-root: RoleBinding cozy:tenant/);
  });

  it('makes nothing of a tenant whose admins would be the super-admins of the one above', () => {
    const { actions, verdict } = plan(observed({ namespace: undefined }, {}, { namespace: 'tenant-acme', name: 'super' }));
    assert.deepEqual([actions, verdict?.reason], [[], 'NameCollides']);
  });

  it('gives the namespace its labels and its owner', () => {
    const inherited = { ...nothing, host: 'acme.example.org', gateway: 'tenant-root', schedulingClass: 'fast' };
    const [action] = plan(observed({ inherited })).actions;
    assert.deepEqual(action?.do === 'apply' && action.desired, {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: {
        name: 'tenant-acme',
        labels: {
          'app.kubernetes.io/managed-by': 'tenant-apiserver',
          'tenant.cozystack.io/uid': 'acme',
          'tenant.cozystack.io/tenant-root': '',
          'tenant.cozystack.io/tenant-acme': '',
          'namespace.cozystack.io/etcd': '',
          'namespace.cozystack.io/ingress': '',
          'namespace.cozystack.io/gateway': 'tenant-root',
          'attach.gateway.cozystack.io/tenant-root': '',
          'namespace.cozystack.io/monitoring': '',
          'namespace.cozystack.io/seaweedfs': '',
          'namespace.cozystack.io/host': 'acme.example.org',
          'pod-security.kubernetes.io/enforce': 'baseline',
          'pod-security.kubernetes.io/warn': 'restricted',
          'alpha.kubevirt.io/auto-memory-limits-ratio': '1.0',
          'capsule.clastix.io/tenant': 'tenant-acme',
          'projectcapsule.dev/tenant': 'tenant-acme',
          'scheduler.cozystack.io/scheduling-class': 'fast',
        },
        ownerReferences: [{ apiVersion: 'v1', kind: 'Namespace', name: 'tenant-root', uid: 'ns-root', controller: true, blockOwnerDeletion: true }],
      },
    });
  });

  it('leaves root no label but the mark of the manifests', () => {
    const [action] = plan(root({}, ended)).actions;
    assert.deepEqual(action?.do === 'apply' && action.desired.metadata, { name: 'tenant-root', labels: { 'app.kubernetes.io/managed-by': 'tenant-apiserver' } });
  });
});
