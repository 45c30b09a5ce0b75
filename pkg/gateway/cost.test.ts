import assert from 'node:assert/strict';
import { describe, it } from 'mocha';
import { exampleGateway, exampleModes, exampleRoute, liveAfter, observedOf } from './example.ts';
import { plan } from './plan.ts';

/** The least of several rounds: what others do on the machine comes on top. */
const cpuMs = (work: () => unknown): number => {
  const rounds = Array.from({ length: 8 }, () => {
    const before = process.cpuUsage();
    for (let run = 0; run < 100; run += 1) work();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 100_000;
  });
  return Math.min(...rounds);
};

describe('a plan of 64 listeners', () => {
  for (const [mode, spec] of Object.entries(exampleModes)) {
    it(`takes less than a millisecond of CPU, in mode ${mode}`, () => {
      const routes = Array.from({ length: 63 }, (_, index) => exampleRoute(index % 2 ? 'tenant-acme' : 'cozy-dashboard', `r${index}`, [`h${index}.acme.example.org`]));
      const observed = observedOf(routes, exampleGateway(spec));
      const steady = { ...observed, live: liveAfter(plan(observed)) };
      const took = cpuMs(() => plan(steady));
      assert.ok(took < 1, `${took} ms`);
    });
  }
});
