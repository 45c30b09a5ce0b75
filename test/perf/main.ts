import { writeFile } from 'node:fs/promises';
import { availableParallelism, loadavg } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { runAtEnd } from '../lifecycle.ts';
import type { Measurement } from './measurement.ts';
import { parseOptions, usage, type BenchOptions } from './options.ts';
import { assertMeasurable, lastSteps, processesOf, stepsFor, type Step } from './plan.ts';
import { IdleRates } from './processes.ts';
import { report } from './report.ts';
import { labelEvery, namespaces } from './subject.ts';
import { load, startWorld } from './world.ts';

/** What came of a run: everything measured, and a line for all that was to be and was not. */
interface Outcome {
  measurements: Measurement[];
  faults: string[];
}

/** Background work of what was just loaded has to end before anything is measured. */
const settleMs = 3000;

const bench = async (options: BenchOptions, outcome: Outcome): Promise<void> => {
  const deadline = performance.now() + options.minutes * 60_000;
  const runSteps = async (steps: readonly Step[], objects: number, idle: IdleRates): Promise<void> => {
    for (const { operation, server, run } of steps) {
      const what = `${operation}, ${server}, ${objects} objects`;
      if (performance.now() > deadline) {
        outcome.faults.push(`${what}: not measured, time was up`);
        continue;
      }
      try {
        const row = await run(idle);
        outcome.measurements.push(row);
        console.log(`  ${what}: ${progress(row)}`);
      } catch (error) {
        outcome.faults.push(`${what}: ${(error as Error).message}`);
        console.log(`  ${what}: FAILED: ${(error as Error).message}`);
      }
    }
  };

  const [load1] = loadavg() as [number, number, number];
  const cpus = availableParallelism();
  console.log(`load before the run: ${load1.toFixed(1)} on ${cpus} CPUs${load1 > cpus / 4 ? '; others keep the machine busy, which makes wall times useless and CPU times larger' : ''}`);
  const world = await startWorld(options);
  let loaded = 0;
  for (const objects of options.objects) {
    console.log(`\n${objects} objects of each kind in ${namespaces.length} namespaces; a list by label gives one of ${labelEvery}`);
    await load(world, loaded, objects, options, deadline);
    loaded = objects;
    await setTimeout(options.quick ? 1000 : settleMs);
    const idle = await IdleRates.measure(processesOf(world), options.quick ? 2000 : 5000);
    await runSteps(stepsFor(world, objects, options), objects, idle);
  }
  await runSteps(lastSteps(options), 0, new IdleRates(new Map()));
};

const progress = ({ cpuMsPerOp, wallP50Ms, rssMb, samples }: Measurement): string =>
  [
    cpuMsPerOp === null ? '' : `${cpuMsPerOp.toFixed(2)} ms CPU`,
    wallP50Ms === null ? '' : `p50 ${wallP50Ms.toFixed(1)} ms of ${samples}`,
    rssMb === null ? '' : `${Math.round(rssMb)} MB`,
  ].filter(Boolean).join(', ');

const main = async (): Promise<void> => {
  const options = parseOptions(process.argv.slice(2));
  if (options.help) return void process.stdout.write(usage);
  assertMeasurable();
  const interrupted = new Promise<never>((_resolve, reject) => {
    for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => reject(new Error(`interrupted by ${signal}`)));
  });
  const outcome: Outcome = { measurements: [], faults: [] };
  try {
    await Promise.race([bench(options, outcome), interrupted]);
  } finally {
    if (outcome.measurements.length > 0) console.log(`\n${report(outcome.measurements, options)}`);
    if (options.jsonFile) await writeFile(options.jsonFile, `${JSON.stringify(outcome.measurements, null, 2)}\n`);
    await runAtEnd(false);
  }
  if (outcome.faults.length === 0) return;
  console.log(`\nnot measured:\n${outcome.faults.map((fault) => `  ${fault}`).join('\n')}`);
  process.exitCode = 1;
};

try {
  await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
process.exit(); // an interrupted trial may still wait for something
