import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeObject, Status } from '../../api/meta/v1/types.ts';
import type { KubeClient, KubeRequest } from '../../pkg/kube/client.ts';
import { Reflector, type ReflectorHandler } from '../../pkg/kube/reflector.ts';
import { create, patch, tenantNamed, tenantPath } from './client.ts';

/** A client that lists and watches as informers do, and notes whatever does not fit together. */
export class Follower implements ReflectorHandler {
  readonly held = new Map<string, string>();
  readonly faults: string[] = [];
  lists = 0;
  resumptions = 0;
  #version = 0;
  readonly #reflector: Reflector;

  constructor(client: KubeClient, path: string) {
    this.#reflector = new Reflector({ client, path }, this);
    this.#reflector.start();
  }

  stop(): Promise<void> {
    return this.#reflector.stop();
  }

  replace(items: KubeObject[], resourceVersion: string): void {
    this.lists += 1;
    if (Number(resourceVersion) < this.#version) this.faults.push(`a list at ${resourceVersion} after ${this.#version}`);
    this.#version = Number(resourceVersion);
    this.held.clear();
    for (const { metadata } of items) this.held.set(metadata.name!, metadata.resourceVersion!);
  }

  event(type: string, { metadata: { name = '', resourceVersion = '' } }: KubeObject): void {
    if (Number(resourceVersion) <= this.#version) this.faults.push(`${type} ${name} at ${resourceVersion} after ${this.#version}`);
    if ((type === 'ADDED') === this.held.has(name)) this.faults.push(`${type} ${name} at ${resourceVersion}, which was${type === 'ADDED' ? '' : ' not'} there`);
    this.#version = Number(resourceVersion);
    if (type === 'DELETED') this.held.delete(name);
    else this.held.set(name, resourceVersion);
  }

  interrupted(): void {
    this.resumptions += 1;
  }
}

/** Creates and changes Tenants all the time, and keeps what was acknowledged; what fails is tried again under another name. */
export class PersistentWriter {
  /** The version of each object that was acknowledged last. */
  readonly acknowledged = new Map<string, number>();
  refused = 0;
  readonly #stopped = new AbortController();
  readonly #working: Promise<unknown>;

  constructor(client: KubeClient, namespace: string, workers = 4) {
    this.#working = Promise.all(Array.from({ length: workers }, (_, worker) => this.#work(client, namespace, worker)));
  }

  /** Resolves once nothing is under way any more. */
  stop(): Promise<unknown> {
    this.#stopped.abort();
    return this.#working;
  }

  async #work(client: KubeClient, namespace: string, worker: number): Promise<void> {
    for (let turn = 0; !this.#stopped.signal.aborted; turn += 1) {
      const name = `p${worker}n${turn}`;
      try {
        await this.#note(create(client, tenantPath(namespace), tenantNamed(name)));
        await this.#note(patch(client, tenantPath(namespace, name), { metadata: { labels: { changed: 'yes' } } }));
      } catch {
        this.refused += 1;
        await sleep(50);
      }
    }
  }

  async #note(write: Promise<KubeObject>): Promise<void> {
    const { metadata } = await write;
    this.acknowledged.set(metadata.name!, Number(metadata.resourceVersion));
  }
}

/** An answer with the time that it took; no answer, which is a fault of its own, has status 0. */
export interface TimedAnswer {
  status: number;
  reason: string | undefined;
  retryAfter: string | undefined;
  ms: number;
}

export const timed = async (client: KubeClient, request: KubeRequest): Promise<TimedAnswer> => {
  const began = performance.now();
  try {
    const { status, headers, body } = await client.request({ timeoutMs: 90_000, ...request });
    const { kind, reason } = JSON.parse(body.toString('utf8')) as Status;
    return { status, reason: kind === 'Status' ? (reason ?? '') : undefined, retryAfter: headers['retry-after'], ms: performance.now() - began };
  } catch (error) {
    return { status: 0, reason: String(error), retryAfter: undefined, ms: performance.now() - began };
  }
};
