import assert from 'node:assert/strict';
import { after, before, describe, it } from 'mocha';
import type { KubeObject } from '../../api/meta/v1/types.ts';
import type { Secret } from '../../pkg/gateway/secrets/facts.ts';
import { secretsRole } from '../../pkg/gateway/secrets/permissions.ts';
import { makeServer, tlsSecret } from '../../pkg/gateway/secrets/tls-fixture.ts';
import { eventually } from '../poll.ts';
import { LoopWorld } from './loop-world.ts';
import { ownControlPlane } from './shared.ts';

const secretAt = (namespace: string, name: string): string => `/api/v1/namespaces/${namespace}/secrets/${name}`;
const values = (text: string): object => ({ data: { 'values.yaml': Buffer.from(text).toString('base64') } });
const first = makeServer(['example.org', '*.example.org']);
const second = makeServer(['example.org', '*.example.org']);

describe("the operator's wildcard certificate", () => {
  let world: LoopWorld;

  before(async function () {
    this.timeout(20 * 60_000); // the control plane may have to be built
    world = await LoopWorld.create(await ownControlPlane());
    await world.post('/api/v1/namespaces/cozy-system/secrets', { metadata: { name: 'cozystack-values' }, ...values('_cluster: { wildcard-secret-name: wild }') });
    await world.post('/api/v1/namespaces/tenant-root/secrets', { metadata: { name: 'cozystack-values' }, ...values('_cluster: { wildcard-secret-name: wild, issuer-name: ignored }') });
    await world.post('/api/v1/namespaces/tenant-root/secrets', { ...tlsSecret('tenant-root', 'wild', first), metadata: { name: 'wild' } });
    world.startLoop('first');
    await world.createTenant('tenant-root', 'root', { host: 'example.org' });
    await world.createTenant('tenant-root', 'gate', { gateway: true });
    await world.createTenant('tenant-root', 'front', { ingress: true });
    await world.createTenant('tenant-root', 'plain', {});
    // somebody's own, where a replica should be
    await world.createTenant('tenant-root', 'own', {});
    await world.tenantSays('tenant-root', 'own', 'Reconciled');
    await world.post('/api/v1/namespaces/tenant-own/secrets', { metadata: { name: 'wild' }, data: { mine: 'eA==' } });
    await world.changeTenant('tenant-root', 'own', { gateway: true });
  });
  after(() => world?.stop());

  const find = (namespace: string, name = 'wild'): Promise<Secret | undefined> => world.find<Secret>(secretAt(namespace, name));
  const holds = (namespace: string, { certPem }: { certPem: string }): Promise<Secret> =>
    eventually(`the replica in ${namespace}`, async () => {
      const secret = await find(namespace);
      return secret?.data?.['tls.crt'] === Buffer.from(certPem).toString('base64') && secret;
    });
  const isGone = (object: string): Promise<true> => eventually(`${object} is gone`, async () => (await world.find(object)) === undefined);

  it('is had where TLS ends, with our marks, and nowhere else', async () => {
    const [gate] = await Promise.all([holds('tenant-gate', first), holds('tenant-front', first)]);
    assert.deepEqual(gate.metadata.labels, { 'app.kubernetes.io/managed-by': 'tenant-apiserver', 'cozystack.io/wildcard-secret-copy': 'true' });
    assert.deepEqual(gate.metadata.annotations, { 'cozystack.io/wildcard-secret-source': 'tenant-root/wild' });
    assert.equal(gate.type, 'kubernetes.io/tls');
    assert.equal((await find('tenant-root'))?.metadata.labels, undefined);
    assert.equal(await find('tenant-plain'), undefined);
  });

  it('is what gateways of tenants serve', async () => {
    const { spec } = (await world.gateways.get('tenant-gate', 'cozystack')) as { spec?: object };
    assert.deepEqual(spec, { apex: 'gate.example.org', certMode: 'existingSecret', wildcardSecretRef: { name: 'wild' }, issuerName: 'letsencrypt-prod', gatewayClassName: 'cilium' });
  });

  it('is read by rights that hold where it is needed, and nowhere else', async () => {
    const bound = (await world.list('/apis/rbac.authorization.k8s.io/v1/rolebindings')).filter(({ metadata }) => metadata.name === secretsRole);
    assert.deepEqual(bound.map(({ metadata }) => metadata.namespace!).toSorted((a, b) => (a < b ? -1 : 1)), ['tenant-front', 'tenant-gate', 'tenant-own', 'tenant-root']);
    const { status } = await world.loopClient.request({ path: secretAt('tenant-plain', 'x') });
    assert.equal(status, 403);
  });

  it("is told to whoever's Secret stands in its place, which is left alone; others get theirs", async () => {
    const event = await eventually('an Event', async () => (await world.list('/apis/events.k8s.io/v1/namespaces/tenant-own/events')).find(({ reason }) => reason === 'WildcardReplicaSkipped'));
    assert.match(String(event['note']), /^Secret tenant-own\/wild is no replica of the wildcard certificate/);
    assert.deepEqual((await find('tenant-own'))?.data, { mine: 'eA==' });
  });

  it('a label that somebody sets on a namespace gets nobody the private key', async () => {
    await world.post('/api/v1/namespaces', { metadata: { name: 'tenant-evil', labels: { 'namespace.cozystack.io/gateway': 'tenant-evil', 'namespace.cozystack.io/ingress': 'tenant-evil' } } });
    await world.patch('/api/v1/namespaces/tenant-plain', { metadata: { labels: { 'namespace.cozystack.io/gateway': 'tenant-plain' } } });
    await world.patch(secretAt('tenant-root', 'wild'), { metadata: { annotations: { note: 'an event for all' } } });
    await eventually('the label is put back', async () => (await world.find('/api/v1/namespaces/tenant-plain'))?.metadata.labels?.['namespace.cozystack.io/gateway'] === '');
    for (const namespace of ['tenant-evil', 'tenant-plain']) assert.equal(await find(namespace), undefined);
  });

  it('is everywhere the new one as soon as it is replaced', async () => {
    const began = Date.now();
    await world.patch(secretAt('tenant-root', 'wild'), { data: tlsSecret('', '', second).data });
    await Promise.all([holds('tenant-gate', second), holds('tenant-front', second)]);
    assert.ok(Date.now() - began < 10_000);
  });

  it('stays while its source is away, and follows it when it is back', async () => {
    await world.delete(secretAt('tenant-root', 'wild'));
    await world.patch('/api/v1/namespaces/tenant-gate', { metadata: { labels: { anything: 'new' } } });
    await world.changeTenant('tenant-root', 'front', { ingress: false }); // it would lose its replica now
    await world.tenantSays('tenant-root', 'front', 'Reconciled');
    assert.ok(await find('tenant-gate'));
    assert.ok(await find('tenant-front'));
    await world.post('/api/v1/namespaces/tenant-root/secrets', { ...tlsSecret('tenant-root', 'wild', first), metadata: { name: 'wild' } });
    await holds('tenant-gate', first);
    await isGone(secretAt('tenant-front', 'wild'));
    await isGone(`/apis/rbac.authorization.k8s.io/v1/namespaces/tenant-front/rolebindings/${secretsRole}`);
  });

  it('is replaced under another name, when the platform names another', async () => {
    await world.post('/api/v1/namespaces/tenant-root/secrets', { ...tlsSecret('tenant-root', 'wilder', first), metadata: { name: 'wilder' } });
    await world.patch(secretAt('cozy-system', 'cozystack-values'), values('_cluster: { wildcard-secret-name: wilder }'));
    await eventually('the new name', () => find('tenant-gate', 'wilder'));
    await isGone(secretAt('tenant-gate', 'wild'));
    assert.ok(await find('tenant-root'));
  });

  it('stays when the platform says nothing any more, and goes when it says that there is none', async () => {
    await world.patch(secretAt('cozy-system', 'cozystack-values'), values('_cluster: {}'));
    await world.createTenant('tenant-root', 'late', { gateway: true });
    await world.tenantSays('tenant-root', 'late', 'Reconciled');
    assert.ok(await find('tenant-gate', 'wilder'));
    assert.equal(await find('tenant-late', 'wilder'), undefined);
    await world.patch(secretAt('cozy-system', 'cozystack-values'), values('_cluster: { wildcard-secret-name: "" }'));
    await isGone(secretAt('tenant-gate', 'wilder'));
    assert.ok(await find('tenant-root', 'wilder'));
    const kept: KubeObject | undefined = await find('tenant-own');
    assert.deepEqual(kept?.['data'], { mine: 'eA==' });
  });
});
