import { after, before, describe, it } from 'mocha';
import assert from 'node:assert/strict';
import { print } from '../runner/outcome.ts';
import { areas } from './cases/all.ts';
import type { Case } from './case.ts';
import { stepText, isWatch, type Step } from './case.ts';
import { faultsBetween, faultText, type Fault } from './compare.ts';
import { differences, listedFor } from './differences.ts';
import { normalised } from './normalise.ts';
import { runCase } from './run-case.ts';
import { sides } from './sides.ts';
import { Wire } from './wire.ts';
import { contractWorld, type World } from './world.ts';

describe('the contract: nobody can tell our kinds from custom resources', () => {
  const cases = Object.values(areas).flat();
  const counts = { ran: 0, agree: 0, listed: 0 };
  let world: World;
  let wire: Wire;

  before(async function () {
    this.timeout(180_000);
    world = await contractWorld();
    wire = new Wire(world.cluster.controlPlane);
    const shared = Object.keys(areas).map(sharedNamespace);
    const own = cases.flatMap((one, index) => (one.alone ? [ownNamespace(index)] : []));
    await Promise.all([...shared, ...own].map((name) => world.cluster.controlPlane.request({ method: 'POST', path: '/api/v1/namespaces', body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name } } })));
  });

  after(() => {
    wire?.close();
    print(`contract: ${counts.ran} cases, ${counts.agree} agree, ${counts.listed} listed differences`);
  });

  it('names each case once, and no case in the list of differences that there is not', () => {
    const names = cases.map(({ name }) => name);
    assert.deepEqual(names.filter((name, index) => names.indexOf(name) !== index), []);
    for (const { cases: patterns } of differences) {
      for (const pattern of patterns) assert.ok(names.some((name) => (pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern)), `there is no case ${pattern}`);
    }
  });

  let index = 0;
  for (const [area, ofArea] of Object.entries(areas)) {
    describe(area, () => {
      for (const one of ofArea) {
        const number = index++;
        it(one.name, async () => {
          counts.ran += 1;
          const namespace = one.alone ? ownNamespace(number) : sharedNamespace(area);
          const place = { kind: one.kind ?? 'gateway', namespace, name: `c${number}` } as const;
          const [ours, twin] = await Promise.all(sides.map(async (side) => normalised(await runCase(one, { side, wire, place, replicaPort: world.replicaPort }), drawsNames(one))));
          const faults = faultsBetween(one.only ? ours!.map(({ status, body }) => ({ status, body: one.only!(body) })) : ours, one.only ? twin!.map(({ status, body }) => ({ status, body: one.only!(body) })) : twin);
          judge(one, faults);
          if (faults.length === 0) counts.agree += 1;
          else counts.listed += 1;
        });
      }
    });
  }
});

const sharedNamespace = (area: string): string => `contract-${area.replaceAll(/[^a-z]+/g, '-')}`;
const ownNamespace = (index: number): string => `contract-${index}`;

const drawsNames = ({ steps }: Case): boolean => JSON.stringify(steps).includes('generateName');

/** Every fault must be listed, and every listed one must be there. */
const judge = (one: Case, faults: readonly Fault[]): void => {
  const places = listedFor(one.name).flatMap(({ at }) => at);
  const covers = (place: string, { at }: Fault): boolean => at === place || at.startsWith(`${place}.`);
  const unlisted = faults.filter((fault) => !places.some((place) => covers(place, fault)));
  assert.ok(unlisted.length === 0, `${unlisted.map(faultText).join('\n')}\n${stepsText(one.steps).map((text, step) => `  ${step}: ${text}`).join('\n')}`);
  const gone = places.filter((place) => !faults.some((fault) => covers(place, fault)));
  assert.deepEqual(gone, [], 'these listed differences no longer occur');
};

const stepsText = (steps: readonly Step[]): string[] => steps.flatMap((step) => [stepText(step), ...(isWatch(step) ? stepsText(step.meanwhile) : [])]);
