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
import { Pool } from './pool.ts';
import { Wire } from './wire.ts';
import { contractWorld, type World } from './world.ts';

/** Cases that may run while an earlier one is waited for: some wait themselves. */
const ahead = 8;

describe('the contract: nobody can tell our kinds from custom resources', () => {
  const cases = Object.values(areas).flat();
  const counts = { ran: 0, agree: 0, listed: 0 };
  let world: World;
  let wire: Wire;

  /** Where the answers of a case differ. */
  const faultsOf = async (one: Case, area: string, number: number): Promise<Fault[]> => {
    const namespace = one.alone ? `contract-${number}` : sharedNamespace(area);
    if (one.alone) await makeNamespace(wire, namespace);
    const place = { kind: one.kind ?? 'gateway', namespace, name: `c${number}` } as const;
    const [ours, twin] = await Promise.all(
      sides.map(async (side) => {
        const answers = normalised(await runCase(one, { side, wire, place, replicaPort: world.replicaPort }), drawsNames(one));
        return one.only ? answers.map(({ status, body }) => ({ status, body: one.only!(body) })) : answers;
      }),
    );
    return faultsBetween(ours, twin);
  };
  const numbered = Object.entries(areas).flatMap(([area, ofArea]) => ofArea.map((one) => ({ area, one })));
  const pool = new Pool(numbered.map(({ area, one }, number) => () => faultsOf(one, area, number)), ahead);

  before(async function () {
    this.timeout(180_000);
    world = await contractWorld();
    wire = new Wire(world.cluster.controlPlane);
    await Promise.all(Object.keys(areas).map((area) => makeNamespace(wire, sharedNamespace(area))));
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
          const faults = await pool.result(number);
          judge(one, faults);
          if (faults.length === 0) counts.agree += 1;
          else counts.listed += 1;
        });
      }
    });
  }
});

const sharedNamespace = (area: string): string => `contract-${area.replaceAll(/[^a-z]+/g, '-')}`;

const makeNamespace = async (wire: Wire, name: string): Promise<void> => {
  const body = JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  const { status, bytes } = await wire.send({ method: 'POST', path: '/api/v1/namespaces', headers: { 'content-type': 'application/json' }, body });
  assert.equal(status, 201, bytes.toString());
};

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
