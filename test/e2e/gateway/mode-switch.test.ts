import assert from 'node:assert/strict';
import type { TenantGatewaySpec } from '../../../api/gateway/v1alpha1/tenantgateway.ts';
import { backend } from './backends.ts';
import { Load } from './load.ts';
import { apex, dataPlaneWorld, type DataPlaneWorld } from './world.ts';

type Mode = NonNullable<TenantGatewaySpec['certMode']>;

describe('a gateway that changes where its certificates come from', function () {
  this.timeout(120_000);
  let world: DataPlaneWorld;
  const hosts = [`one.${apex}`, `two.${apex}`, `app.moving.${apex}`];
  /** In the operator's certificate only. */
  const mark = `operator.${apex}`;
  before(async function () {
    this.timeout(180_000);
    world = await dataPlaneWorld();
    await world.setGateway({ certMode: 'http01' });
    const port = await backend('still here');
    const namespace = await world.tenant('tenant-root', 'moving');
    await world.publish(
      { namespace: 'tenant-root', name: 'moving', hosts: hosts.slice(0, 2), port },
      { namespace, name: 'app', hosts: hosts.slice(2), port },
    );
    for (const host of hosts) await world.answers(host, 'still here');
    await world.giveCertificate('operators', [apex, `*.${apex}`, `*.moving.${apex}`, mark]);
  });

  const settings: Record<Mode, Partial<TenantGatewaySpec>> = {
    http01: {},
    dns01: { dns01: { provider: 'cloudflare', cloudflare: { apiTokenSecretRef: { name: 'token', key: 'token' } } } },
    existingSecret: { wildcardSecretRef: { name: 'operators' } },
  };
  const modeOf = (names: string): Mode => (names.includes(mark) ? 'existingSecret' : names.includes('*') ? 'dns01' : 'http01');
  const way: [Mode, Mode][] = [['http01', 'dns01'], ['dns01', 'existingSecret'], ['existingSecret', 'http01'], ['http01', 'existingSecret'], ['existingSecret', 'dns01'], ['dns01', 'http01']];
  for (const [from, to] of way) {
    it(`drops no request on the way from ${from} to ${to}`, async () => {
      world.issuer.orderMs = 2000; // long enough for everything that does not wait for it to be over
      const load = new Load(hosts, 'still here', world.issuer.authority.certPem);
      await world.setGateway({ certMode: to, ...settings[to] });
      for (const host of hosts) await world.answersWith(host, 'still here', ({ certificate }) => modeOf(certificate!.subjectAltName!) === to);
      await load.end();
      world.issuer.orderMs = 0;
      assert.deepEqual(load.failures.slice(0, 10), [], `${load.failures.length} failed, ${load.answered} did not`);
      assert.ok(load.answered > hosts.length, `${load.answered} requests are no load`);
    });
  }
});
