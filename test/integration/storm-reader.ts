import https from 'node:https';
import type { IncomingMessage } from 'node:http';
import type { ControlPlane } from '../../hack/controlplane/controlplane.ts';

export interface ReaderOptions {
  controlPlane: ControlPlane;
  /** Of a server on this machine; the kube-apiserver if left out. */
  port?: number;
  /** Path and query. */
  path: string;
  accept?: string;
  /** Reads nothing until `resume`. */
  paused?: boolean;
}

const marker = Buffer.from('"resourceVersion":"');

/** A watch on a connection of its own, which keeps nothing of its events but their types and versions, and can stop to read. */
export class StormReader {
  /** `ADDED` and the like with the version, in the order of their coming. */
  readonly told: string[] = [];
  /** Resolves with how the stream came to its end. */
  readonly over: Promise<'ended' | 'broken off'>;
  isOver = false;
  readonly #response: IncomingMessage;
  #rest: Buffer[] = [];

  static open({ controlPlane: { url, caPem, admin }, port, path, accept = 'application/json', paused = false }: ReaderOptions): Promise<StormReader> {
    return new Promise((resolve, reject) => {
      const request = https.request(new URL(path, port === undefined ? url : `https://127.0.0.1:${port}`), {
        agent: false, cert: admin.certPem, key: admin.keyPem, ...(port === undefined ? { ca: caPem } : { rejectUnauthorized: false }), headers: { accept, 'accept-encoding': 'identity' },
      });
      request.once('error', reject);
      request.once('response', (response) => {
        if (response.statusCode !== 200) reject(new Error(`${path}: ${response.statusCode}`));
        else resolve(new StormReader(response, paused));
      });
      request.end();
    });
  }

  private constructor(response: IncomingMessage, paused: boolean) {
    this.#response = response;
    this.over = new Promise((resolve) => {
      response.once('end', () => resolve('ended'));
      response.once('error', () => resolve('broken off'));
      response.once('close', () => resolve('broken off'));
    });
    response.once('close', () => (this.isOver = true));
    response.on('data', (chunk: Buffer) => this.#take(chunk));
    if (paused) response.pause();
  }

  get versions(): number[] {
    return this.told.map((line) => Number(line.split('@')[1]));
  }

  resume(): void {
    this.#response.resume();
  }

  close(): void {
    this.#response.destroy();
  }

  #take(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(0x0a); end !== -1; end = chunk.indexOf(0x0a, start)) {
      const part = chunk.subarray(start, end);
      this.#note(this.#rest.length > 0 ? Buffer.concat([...this.#rest, part]) : part);
      this.#rest = [];
      start = end + 1;
    }
    if (start < chunk.length) this.#rest.push(chunk.subarray(start));
  }

  /** The version is the only member of that name; the type stands first. */
  #note(line: Buffer): void {
    const from = line.lastIndexOf(marker) + marker.length;
    const type = line.subarray('{"type":"'.length, line.indexOf('"', '{"type":"'.length)).toString();
    this.told.push(`${type}@${line.subarray(from, line.indexOf('"', from)).toString()}`);
  }
}
