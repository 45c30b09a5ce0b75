import { setTimeout } from 'node:timers/promises';
import type { KubeStream } from '../../../pkg/kube/client.ts';
import { eventually } from '../../poll.ts';
import { measurement, type Measurement, type Operation } from '../measurement.ts';
import { countCpu, rssMbOf, type CpuMs, type IdleRates } from '../processes.ts';
import { concurrently, keyOf, latestVersion, pathOf, type Subject } from '../subject.ts';
import { touch } from './objects.ts';

export const newWatch: Operation = {
  name: 'new watch from a recent version',
  prepare: async (subject) => {
    const resourceVersion = await latestVersion(subject);
    return { attempt: async () => (await open(subject, resourceVersion)).close() };
  },
};

const open = (subject: Subject, resourceVersion: string): Promise<KubeStream> =>
  subject.client.stream({ path: pathOf(subject), query: { watch: true, resourceVersion }, headers: { 'accept-encoding': 'identity' }, timeoutMs: 60_000 });

/** Watches on a whole collection; every one of them tells when it gets an event. */
export class Watchers {
  readonly #streams: KubeStream[] = [];
  #closing = false;
  /** Of a watch that ended before it was closed. */
  fault: Error | undefined;

  static async open(subject: Subject, count: number, received: (event: number, at: number) => void = () => undefined): Promise<Watchers> {
    const watchers = new Watchers();
    const version = await latestVersion(subject);
    await concurrently(count, async () => {
      const stream = await open(subject, version);
      watchers.#streams.push(stream);
      void watchers.#read(stream, received);
    });
    return watchers;
  }

  close(): void {
    this.#closing = true;
    for (const stream of this.#streams) stream.close();
  }

  async #read({ lines }: KubeStream, received: (event: number, at: number) => void): Promise<void> {
    let event = 0;
    try {
      // Nothing but the trial's own writes happens to the collection, so the line's number is the event's.
      for await (const _line of lines) received(event++, performance.now());
      throw new Error('a watch ended by itself');
    } catch (error) {
      if (!this.#closing) this.fault ??= error as Error;
    }
  }
}

const everyMs = 100;
const warmUp = 5;

/** Writes ten times a second; resolves with the CPU time of all that, and the times at which writes were sent. */
const writePaced = async (subject: Subject, count: number, idle: IdleRates, sent: number[] = []): Promise<() => CpuMs> => {
  const counted = countCpu(subject.processes(), idle);
  for (let index = 0; index < count; index += 1) {
    const began = performance.now();
    sent.push(began);
    await touch(subject, keyOf(index % 10));
    await setTimeout(Math.max(0, everyMs - (performance.now() - began)));
  }
  return counted;
};

/** What watchers add to the cost of a write: the same writes are measured without any. Delivery counts from when the write is sent. */
export const measureEvent = async (subject: Subject, objects: number, idle: IdleRates, watchers: number, events: number): Promise<Measurement> => {
  await writePaced(subject, 10, idle);
  const alone = (await writePaced(subject, events, idle))();
  const sent: number[] = [];
  const walls: number[] = [];
  let warming = true;
  let skipped = 0;
  const open = await Watchers.open(subject, watchers, (event, at) => {
    if (warming) skipped += 1;
    else walls.push(at - sent[event - warmUp]!);
  });
  const delivered = (what: string, done: () => boolean): Promise<true> =>
    eventually(`${subject.name} delivers ${what}`, () => {
      if (open.fault) throw open.fault;
      return done();
    }, { withinMs: 60_000, everyMs: 20 });
  try {
    await writePaced(subject, warmUp, idle);
    await delivered('the first events', () => skipped === warmUp * watchers);
    warming = false;
    const counted = await writePaced(subject, events, idle, sent);
    await delivered(`${events} events to ${watchers} watchers`, () => walls.length === events * watchers);
    const cpu = counted();
    const added = Object.fromEntries(Object.entries(cpu).map(([role, ms]) => [role, Math.max(0, ms - alone[role as keyof CpuMs])])) as CpuMs;
    return measurement(`event to ${watchers} watchers`, subject.name, objects, { cpu: added, count: events, walls, rssMb: rssMbOf(subject.processes().serving) });
  } finally {
    open.close();
  }
};
