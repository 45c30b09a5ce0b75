import https from 'node:https';
import { ask } from './client.ts';

/** Requests to hosts, one after another for each, half of them over connections that stay; nothing is tried again. */
export class Load {
  /** What went wrong, and how long after the start. */
  readonly failures: string[] = [];
  answered = 0;
  readonly #began = performance.now();
  readonly #agent = new https.Agent({ keepAlive: true });
  readonly #running: Promise<void>[];
  #ending = false;

  constructor(hosts: readonly string[], text: string, ca: string) {
    this.#running = hosts.flatMap((host) => [undefined, this.#agent].map((agent) => this.#run(host, text, ca, agent)));
  }

  /** Resolves once the requests that are under way have been answered. */
  async end(): Promise<void> {
    this.#ending = true;
    await Promise.all(this.#running);
    this.#agent.destroy();
  }

  async #run(host: string, text: string, ca: string, agent: https.Agent | undefined): Promise<void> {
    while (!this.#ending) {
      const reply = await ask({ host, ca, agent }).catch((error: unknown) => error as NodeJS.ErrnoException);
      if (!(reply instanceof Error) && reply.status === 200 && reply.text === text) this.answered += 1;
      else this.failures.push(`${host} at ${Math.round(performance.now() - this.#began)} ms: ${reply instanceof Error ? (reply.code ?? reply.message) : reply.status}`);
    }
  }
}
