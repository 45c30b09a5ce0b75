import { CollectorWorld } from '../integration/collector-world.ts';

describe('garbage collector', () => {
  let world: CollectorWorld;
  before(async function () {
    this.timeout(20 * 60_000); // the components may have to be built
    world = await CollectorWorld.start();
    await world.pair('kept');
  });
  after(() => world?.stop());

  it('writes nothing to a Tenant and to what it owns through two minutes of changes', async function () {
    this.timeout(600_000);
    await world.churn('kept', 120);
  });
});
