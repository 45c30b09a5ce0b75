import { measurement, type Measurement } from '../measurement.ts';
import { cpuMsOf, rssMbOf } from '../processes.ts';
import type { AggregatedServer, HeapUsage } from '../servers.ts';
import { pathOf, succeed, type Subject } from '../subject.ts';
import { Watchers } from './watches.ts';

const memoryWatchers = 100;

/** Memory of the serving process with watchers open; `heap` where it can tell. */
export const measureMemory = async (name: string, subject: Subject, objects: number, heap?: () => Promise<HeapUsage>): Promise<Measurement> => {
  const { body } = await succeed(subject.client, { path: pathOf(subject), headers: { 'accept-encoding': 'identity' } });
  const watchers = await Watchers.open(subject, memoryWatchers);
  try {
    const rssMb = rssMbOf(subject.processes().serving); // before the collection is forced
    const heapMb = (await heap?.())?.heapMb;
    if (watchers.fault) throw watchers.fault;
    return measurement(name, subject.name, objects, { rssMb, heapMb, jsonMb: body.length / 2 ** 20 });
  } finally {
    watchers.close();
  }
};

/** Starts a server again and again. Wall time is until it says that it is ready, looked at every 50 ms. */
export const measureStart = async (subject: Subject, objects: number, { child, reachable }: AggregatedServer, count: number): Promise<Measurement> => {
  const walls: number[] = [];
  let serving = 0;
  for (let index = 0; index < count; index += 1) {
    await child.stop();
    const began = performance.now();
    await child.start();
    walls.push(performance.now() - began);
    serving += cpuMsOf(child.pid!);
    await reachable();
  }
  const row = measurement('start to ready', subject.name, objects, { walls, rssMb: rssMbOf(child.pid!) });
  return { ...row, cpuMsPerOp: serving / count };
};
