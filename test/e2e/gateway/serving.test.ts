import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { createAuthority } from '../../../pkg/server/certificates.ts';
import { eventually } from '../../poll.ts';
import { backend, tlsBackend } from './backends.ts';
import { askPlain } from './client.ts';
import { apex, dataPlaneWorld, type DataPlaneWorld } from './world.ts';

describe('a gateway with a certificate for each host', function () {
  this.timeout(120_000);
  let world: DataPlaneWorld;
  let shop: string;
  before(async function () {
    this.timeout(180_000);
    world = await dataPlaneWorld();
    await world.setGateway({ certMode: 'http01', tlsPassthroughServices: ['api'] });
    shop = await world.tenant('tenant-root', 'shop');
  });

  it('serves a published app on its host, with a certificate for that host', async () => {
    await world.publish({ namespace: shop, name: 'web', hosts: [`web.shop.${apex}`], port: await backend('the shop') });
    const { certificate } = await world.answers(`web.shop.${apex}`, 'the shop');
    assert.equal(certificate!.subjectAltName, `DNS:web.shop.${apex}`);
  });

  it('says that it is ready, and which certificate ends when', async () => {
    const { status } = await eventually('the gateway is ready', async () => {
      const gateway = await world.gateway();
      return gateway.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') && gateway;
    });
    const listener = status!.listeners!.find(({ hostname }) => hostname === `web.shop.${apex}`)!;
    assert.deepEqual([listener.ready, listener.attachedRoutes, listener.certificate?.ready], [true, 1, true]);
    const { certificate } = await world.ask(`web.shop.${apex}`);
    assert.equal(Date.parse(listener.certificate!.notAfter!), Date.parse(certificate!.validTo));
  });

  it('redirects plain HTTP with 301', async () => {
    const { status, headers } = await askPlain({ host: `web.shop.${apex}`, path: '/cart?item=1' });
    assert.equal(status, 301);
    assert.equal(headers.location, `https://web.shop.${apex}/cart?item=1`);
  });

  it("redirects plain HTTP for a route of the gateway's own namespace, too, which the data plane attaches to port 80 as well", async () => {
    const host = `own.${apex}`;
    await world.publish({ namespace: 'tenant-root', name: 'own', hosts: [host], port: await backend('the owner') });
    await world.answers(host, 'the owner');
    const statusOf = async (path: string): Promise<number> => (await askPlain({ host, path })).status;
    await eventually('plain HTTP is redirected', async () => (await statusOf('/')) === 301);
    for (const path of ['/', '/cart', '/cart/items?page=2']) assert.equal(await statusOf(path), 301);
  });

  it('does not serve the route of a tenant that has another gateway', async () => {
    const namespace = await world.tenant('tenant-root', 'foreign', { gateway: true });
    await world.publish({ namespace, name: 'app', hosts: [`app.foreign.${apex}`], port: await backend('the foreigner') });
    await world.upToDate(shop);
    assert.equal(await world.whoAnswers(`app.foreign.${apex}`), 'ECONNRESET');
  });

  it('does not serve the route of a namespace that is no tenant, on a new host or on one that is served', async () => {
    await world.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'outside' } });
    await world.publish({ namespace: 'outside', name: 'app', hosts: [`new.shop.${apex}`, `web.shop.${apex}`], path: '/taken', port: await backend('the outsider') });
    await world.upToDate(shop);
    assert.equal(await world.whoAnswers(`new.shop.${apex}`, { path: '/taken' }), 'ECONNRESET');
    assert.deepEqual(await world.whoAnswersOften(`web.shop.${apex}`, '/taken'), new Set(['the shop']));
  });

  it('serves the winner of a host and never its loser, who takes over once the winner is gone', async () => {
    const host = `both.shop.${apex}`;
    const port = await backend('the tenant');
    await world.publish({ namespace: shop, name: 'both', hosts: [host], port }, { namespace: shop, name: 'both-cart', hosts: [host], path: '/cart', port });
    await world.answers(host, 'the tenant');
    await world.publish({ namespace: 'tenant-root', name: 'both', hosts: [host], port: await backend('the owner') });
    await world.answers(host, 'the owner');
    await world.upToDate(shop);
    assert.deepEqual(await world.whoAnswersOften(host, '/cart'), new Set(['the owner']));
    await world.cluster.kubectl.run(['delete', 'httproute', 'both', '-n', 'tenant-root']);
    await world.answers(host, 'the tenant');
  });

  it('passes TLS through to the certificate of the backend, beside hosts whose TLS it terminates', async () => {
    const authority = await createAuthority({ commonName: 'of the backend' });
    const own = await authority.issue({ commonName: 'api', dnsNames: [`api.${apex}`], usages: ['server'] });
    await world.publish({ kind: 'TLSRoute', namespace: 'tenant-root', name: 'api', hosts: [`api.${apex}`], port: await tlsBackend('the API', own) });
    const { certificate } = await world.answers(`api.${apex}`, 'the API', { ca: authority.certPem });
    assert.equal(certificate!.fingerprint256, new X509Certificate(own.certPem).fingerprint256);
    assert.equal(await world.whoAnswers(`web.shop.${apex}`), 'the shop');
  });
});
