import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import { after, before, describe, it } from 'mocha';
import type { TenantGatewaySpec } from '../../api/gateway/v1alpha1/tenantgateway.ts';
import type { KubeObject } from '../../api/meta/v1/types.ts';
import type { Loop } from '../../cmd/tenant-apiserver/loop.ts';
import { issuersFrom } from '../../pkg/gateway/issuance/issuers.ts';
import { makeServer, tlsSecret } from '../../pkg/gateway/secrets/tls-fixture.ts';
import type { Certificate } from '../../pkg/gateway/types.ts';
import { eventually } from '../poll.ts';
import { LoopWorld } from '../integration/loop-world.ts';
import { ownControlPlane } from '../integration/shared.ts';

const namespace = 'tenant-acme';
const certificateAt = (name: string): string => `/apis/cert-manager.io/v1/namespaces/${namespace}/certificates/${name}`;
const issuerAt = (name: string): string => `/apis/cert-manager.io/v1/namespaces/${namespace}/issuers/${name}`;
const secretAt = (name: string): string => `/api/v1/namespaces/${namespace}/secrets/${name}`;
const routeAt = (name: string): string => `/apis/gateway.networking.k8s.io/v1/namespaces/${namespace}/httproutes/${name}`;
const collection = (object: string): string => object.slice(0, object.lastIndexOf('/'));
/** One certificate a week for each registered domain. */
const issuers = issuersFrom({ 'letsencrypt-prod': { limits: {} }, other: { server: 'https://acme.other.example/directory' }, small: { server: 'https://acme.example.net/directory', limits: { certificatesPerDomain: { count: 1, period: '168h' } } } });

describe('certificates of a gateway', () => {
  let world: LoopWorld;
  let loop: Loop;

  before(async function () {
    this.timeout(20 * 60_000); // the control plane may have to be built
    world = await LoopWorld.create(await ownControlPlane());
    await Promise.all([world.installCrds('gateway-api'), world.installCrds('cert-manager')]);
    loop = world.startLoop('first', { issuers });
    await world.createTenant('tenant-root', 'root', { host: 'example.org' });
    await world.createTenant('tenant-root', 'acme', { gateway: true });
    await eventually('the gateway', () => world.find(issuerAt('cozystack-gateway')));
  });
  after(() => world?.stop());

  /** Secrets that the garbage collector is to take. */
  const left: string[] = [];

  const change = (spec: Partial<TenantGatewaySpec>): Promise<unknown> => {
    const object = { apiVersion: 'gateway.cozystack.io/v1alpha1', kind: 'TenantGateway', metadata: { namespace, name: 'cozystack' }, spec };
    return world.gateways.apply(object as KubeObject, { fieldManager: 'test', force: true });
  };
  const conditionSays = (reason: string): Promise<string> =>
    eventually(`CertificatesReady is ${reason}`, async () => {
      const { status } = (await world.gateways.get(namespace, 'cozystack')) as { status?: { conditions?: { type: string; reason: string; message: string }[] } };
      const condition = status?.conditions?.find(({ type }) => type === 'CertificatesReady');
      return condition?.reason === reason && condition.message;
    });
  const certificates = async (): Promise<Certificate[]> => (await world.list(collection(certificateAt('x')))) as Certificate[];
  const certified = (count: number): Promise<Certificate[]> =>
    eventually(`${count} Certificates`, async () => {
      const found = await certificates();
      return found.length === count && found;
    });
  const isGone = (object: string): Promise<true> => eventually(`${object} is gone`, async () => (await world.find(object)) === undefined);
  /** What cert-manager does. */
  const issue = async ({ metadata: { name }, spec }: Certificate): Promise<void> => {
    const { metadata: _metadata, ...content } = tlsSecret(namespace, spec!.secretName, makeServer(spec!.dnsNames!));
    await world.post(collection(secretAt('x')), { ...content, metadata: { name: spec!.secretName, annotations: { 'cert-manager.io/certificate-name': name } } });
    const ready = { type: 'Ready', status: 'True', reason: 'Ready', message: '', lastTransitionTime: '2026-12-01T00:00:00Z' };
    await world.patch(`${certificateAt(name!)}/status`, { status: { revision: 1, conditions: [ready] } });
  };
  const ownerOf = async (name: string): Promise<string | undefined> => (await world.find(secretAt(name)))?.metadata.ownerReferences?.[0]?.uid;

  it('are the owners of the Secrets that cert-manager writes for them', async () => {
    await world.createRoute(namespace, 'www', `${namespace}/cozystack`, ['www.acme.example.org']);
    const [www] = await certified(1);
    await issue(www!);
    await eventually('the owner', async () => (await ownerOf(www!.spec!.secretName)) === www!.metadata.uid);
  });

  it('are issued anew when the gateway has another issuer, once cert-manager knows its server', async () => {
    const [www] = await certificates();
    const labelOf = async (): Promise<string | undefined> => (await world.find(certificateAt(www!.metadata.name!)))?.metadata.labels?.['gateway.cozystack.io/issuer'];
    const takenOver = async ({ metadata: { generation } }: KubeObject): Promise<void> => {
      const ready = { type: 'Ready', status: 'True', reason: 'ACMEAccountRegistered', message: '', lastTransitionTime: '2026-12-01T00:00:00Z', observedGeneration: generation };
      await world.patch(`${issuerAt('cozystack-gateway')}/status`, { status: { conditions: [ready] } });
    };
    await takenOver((await world.find(issuerAt('cozystack-gateway')))!);
    await change({ certMode: 'http01', issuerName: 'other' });
    const issuer = await eventually('the Issuer has the other server', async () => {
      const found = await world.find(issuerAt('cozystack-gateway'));
      return JSON.stringify(found?.['spec']).includes('acme.other.example') && found;
    });
    assert.equal(await labelOf(), 'letsencrypt-prod');
    await takenOver(issuer);
    await eventually('the Certificate is of the other issuer', async () => (await labelOf()) === 'other');
    const { status } = (await world.find<Certificate>(certificateAt(www!.metadata.name!)))!;
    assert.deepEqual(status?.conditions?.map(({ type, status: holds, reason }) => [type, holds, reason]), [['Ready', 'True', 'Ready'], ['Issuing', 'True', 'IssuerChanged']]);
  });

  it('are one for all hosts by DNS-01, and it is told what the provider lacks; what was before goes', async () => {
    const [www] = await certificates();
    await change({ certMode: 'dns01', dns01: { provider: 'digitalocean', digitalocean: { tokenSecretRef: { name: 'token', key: 'access-token' } } } });
    assert.equal(await conditionSays('SecretMissing'), 'Secret tenant-acme/token (spec.dns01.digitalocean) does not exist');
    await world.post(collection(secretAt('x')), { metadata: { name: 'token' }, stringData: { other: 'x' } });
    await change({ certMode: 'dns01', dns01: { provider: 'digitalocean', digitalocean: { tokenSecretRef: { name: 'token', key: 'token' } } } });
    const wildcard = await eventually('the wildcard Certificate', () => world.find<Certificate>(certificateAt('cozystack-gateway-tls')));
    assert.deepEqual(wildcard.spec!.dnsNames, ['acme.example.org', '*.acme.example.org']);
    const solvers = [{ dns01: { digitalocean: { tokenSecretRef: { name: 'token', key: 'token' } } } }];
    const isChanged = (issuer: KubeObject | undefined): boolean => isDeepStrictEqual((issuer?.['spec'] as { acme: { solvers: object[] } } | undefined)?.acme.solvers, solvers);
    await eventually('the Issuer has what was changed last', async () => isChanged(await world.find(issuerAt('cozystack-gateway'))));
    assert.ok(await world.find(certificateAt(www!.metadata.name!)), 'what serves the host goes on until its successor can');
    await issue(wildcard);
    await eventually('the owner', async () => (await ownerOf(wildcard.spec!.secretName)) === wildcard.metadata.uid);
    await isGone(certificateAt(www!.metadata.name!));
    left.push(secretAt(www!.spec!.secretName));
  });

  it('are none where a Secret is given, which is judged; Issuer and Certificates go', async () => {
    await change({ certMode: 'existingSecret', wildcardSecretRef: { name: 'wild' } });
    await conditionSays('SecretMissing');
    const { metadata: _metadata, ...content } = tlsSecret(namespace, 'wild', makeServer(['acme.example.org', '*.acme.example.org'], { notAfter: new Date(Date.now() + 90 * 86_400_000) }));
    await world.post(collection(secretAt('x')), { ...content, metadata: { name: 'wild' } });
    assert.match(await conditionSays('SecretValid'), /^The certificate in Secret tenant-acme\/wild is valid until/);
    await Promise.all([certified(0), isGone(issuerAt('cozystack-gateway'))]);
    left.push(secretAt('cozystack-gateway-tls'));
  });

  it('come back with HTTP-01', async () => {
    await change({ certMode: 'http01', issuerName: 'small' });
    const [www] = await certified(1);
    assert.deepEqual(www!.spec!.dnsNames, ['www.acme.example.org']);
    assert.match(JSON.stringify((await world.find(issuerAt('cozystack-gateway')))!['spec']), /"server":"https:\/\/acme\.example\.net\/directory"/);
  });

  it('wait where the budget of the issuer is spent, also when what spent it is gone, and after a restart', async () => {
    await world.createRoute(namespace, 'app', `${namespace}/cozystack`, ['app.acme.example.org']);
    assert.match(await conditionSays('RateLimited'), /issuer small allows 1 new certificates for example\.org in 7 days.*waiting: cozystack-app-/);
    await world.delete(routeAt('www'));
    await certified(0);
    await loop.stop();
    loop = world.startLoop('second', { issuers });
    await world.createRoute(namespace, 'late', `${namespace}/cozystack`, ['late.acme.example.org']);
    await eventually('both wait', async () => /cozystack-app-.*cozystack-late-/.test(await conditionSays('RateLimited')));
    assert.deepEqual(await certificates(), []);
  });

  it('leave no private key behind, and take none along that others brought', async () => {
    assert.equal(left.length, 2);
    for (const object of left) await isGone(object);
    for (const name of ['token', 'wild']) assert.equal((await world.find(secretAt(name)))?.metadata.ownerReferences, undefined, name);
  }).timeout(90_000); // the garbage collector looks for new kinds every 30 s
});
