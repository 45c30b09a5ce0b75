import type { KubeObject } from '../../api/meta/v1/types.ts';
import type { KubeClient } from '../kube/client.ts';
import { microTime, systemClock, type Clock } from './clock.ts';
import type { Log } from './log.ts';

export interface Occurrence {
  type: 'Normal' | 'Warning';
  /** CamelCase. */
  reason: string;
  /** What the loop was doing, CamelCase. */
  action: string;
  note: string;
}

export interface EventRecorderOptions {
  client: Pick<KubeClient, 'json'>;
  log: Log;
  /** Who reports: `reportingInstance`. */
  instance: string;
  clock?: Clock;
}

const noteLimit = 1024;
/** How many objects' last event is remembered. */
const memory = 10_000;

/** Writes events.k8s.io/v1 Events, one for a change of state: what was said last of an object is not said again. */
export class EventRecorder {
  readonly #options: EventRecorderOptions;
  readonly #clock: Clock;
  readonly #last = new Map<string, string>();

  constructor(options: EventRecorderOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  /** An event that cannot be written is logged: it is never a reason to stop. */
  async record(regarding: KubeObject, occurrence: Occurrence): Promise<void> {
    const { uid = '', namespace, name } = regarding.metadata;
    const said = JSON.stringify(occurrence);
    if (this.#last.get(uid) === said) return;
    this.#remember(uid, said);
    try {
      await this.#options.client.json({
        method: 'POST',
        path: `/apis/events.k8s.io/v1/namespaces/${namespace ?? 'default'}/events`,
        body: toEvent(regarding, occurrence, this.#options.instance, this.#clock.now()),
      });
    } catch (error) {
      this.#options.log.warn({ err: error, object: `${namespace}/${name}`, reason: occurrence.reason }, 'cannot write an event');
    }
  }

  #remember(uid: string, said: string): void {
    this.#last.delete(uid);
    this.#last.set(uid, said);
    if (this.#last.size > memory) this.#last.delete(this.#last.keys().next().value!);
  }
}

/** The Event object of an occurrence. */
export const toEvent = (regarding: KubeObject, { type, reason, action, note }: Occurrence, instance: string, now: number): KubeObject => {
  const { namespace, name, uid, resourceVersion } = regarding.metadata;
  const suffix = `.${(BigInt(now) * 1_000_000n).toString(16)}`;
  return {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { name: `${name!.slice(0, 253 - suffix.length)}${suffix}`, namespace: namespace ?? 'default' },
    eventTime: microTime(now),
    reportingController: 'tenant-apiserver',
    reportingInstance: instance.slice(0, 128),
    action,
    reason,
    type,
    note: note.length > noteLimit ? `${note.slice(0, noteLimit - 1)}…` : note,
    regarding: { apiVersion: regarding.apiVersion, kind: regarding.kind, namespace, name, uid, resourceVersion },
  };
};
