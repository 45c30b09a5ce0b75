import assert from 'node:assert/strict';
import { setName } from '../../../pkg/gateway/places.ts';
import { backend } from './backends.ts';
import { apex, dataPlaneWorld, type DataPlaneWorld } from './world.ts';

const count = 100;

describe('a gateway with more hosts than a Gateway has listeners', function () {
  this.timeout(180_000);
  let world: DataPlaneWorld;
  let namespace: string;
  before(async () => {
    world = await dataPlaneWorld();
    await world.setGateway({ certMode: 'http01' });
    namespace = await world.tenant('tenant-root', 'many');
  });

  it(`serves ${count} hosts, each with a certificate of its own`, async () => {
    const port = await backend('one of many');
    const hosts = Array.from({ length: count }, (_, index) => `host-${index}.many.${apex}`);
    // Routes reach the listeners of a Gateway or of a ListenerSet by naming it.
    const parents = [{ name: 'cozystack', namespace: 'tenant-root' }, { kind: 'ListenerSet', name: setName('cozystack', 1), namespace: 'tenant-root' }];
    await world.publish(...hosts.map((host) => ({ namespace, name: host.split('.')[0]!, hosts: [host], port, parents })));
    for (const host of hosts) {
      const { certificate } = await world.answers(host, 'one of many');
      assert.equal(certificate!.subjectAltName, `DNS:${host}`);
    }
  });

  after(() => world.cluster.kubectl.run(['delete', 'httproutes', '--all', '-n', namespace]));
});
