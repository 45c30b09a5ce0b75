import http from 'node:http';
import https from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RestConfig } from '../kube/config.ts';
import type { Delivery } from './delivery.ts';
import { encodeList } from './encoding.ts';

export interface WebhookOptions {
  /** Where to and as whom; path and query of the URL are kept. */
  target: RestConfig;
  /** How long to wait before the second attempt, milliseconds; each further wait is half as long again. */
  initialBackoffMs: number;
  userAgent: string;
  /** Milliseconds that one attempt may take. */
  timeoutMs?: number;
}

/** As the kube-apiserver: any error is worth another attempt, this often in all. */
const attempts = 5;
const backoffFactor = 1.5;
const backoffJitter = 0.2;
const defaultTimeoutMs = 30_000;

/** Posts events as an EventList. */
export class WebhookDelivery implements Delivery {
  readonly name = 'webhook';
  readonly #options: WebhookOptions;
  readonly #agent: http.Agent;

  constructor(options: WebhookOptions) {
    this.#options = options;
    const { server, serverName, ca, cert, key, insecureSkipVerify } = options.target;
    this.#agent =
      server.protocol === 'http:'
        ? new http.Agent({ keepAlive: true })
        : new https.Agent({ keepAlive: true, ca, cert, key, rejectUnauthorized: !insecureSkipVerify, ...(serverName && { servername: serverName }) });
  }

  /** Nothing is asked of the webhook before there is something to tell: it may come up later. */
  open(): Promise<void> {
    return Promise.resolve();
  }

  async deliver(events: Parameters<typeof encodeList>[0], signal: AbortSignal): Promise<void> {
    const body = encodeList(events);
    let waitMs = this.#options.initialBackoffMs;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#post(body, signal);
      } catch (error) {
        if (attempt >= attempts || signal.aborted) throw error;
        await sleep(waitMs * (1 + backoffJitter * Math.random()), undefined, { signal }).catch(() => {
          throw error; // the failure tells more than that there is no time for another attempt
        });
        waitMs *= backoffFactor;
      }
    }
  }

  close(): Promise<void> {
    this.#agent.destroy();
    return Promise.resolve();
  }

  async #post(body: string, signal: AbortSignal): Promise<void> {
    const { target, userAgent, timeoutMs = defaultTimeoutMs } = this.#options;
    const token = await target.token();
    const headers = {
      'user-agent': userAgent,
      accept: 'application/json',
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      ...(token && { authorization: `Bearer ${token}` }),
    };
    const code = await new Promise<number>((resolve, reject) => {
      const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
      const { request } = target.server.protocol === 'http:' ? http : https;
      const post = request(target.server, { method: 'POST', agent: this.#agent, headers, signal: limit }, (response) => {
        response.on('error', reject).on('end', () => resolve(response.statusCode ?? 0)).resume();
      });
      post.on('error', reject);
      post.end(body);
    });
    if (code < 200 || code > 299) throw new Error(`the audit webhook answered ${code}`);
  }
}
