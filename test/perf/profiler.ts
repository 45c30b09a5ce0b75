import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { profileSummary, type CpuProfile } from './profile-summary.ts';

/** Microseconds from one look at the stack to the next. */
const samplingIntervalUs = 250;

/** Takes CPU profiles of a process that listens for a debugger (`--inspect=127.0.0.1:port`). */
export class Profiler {
  readonly #directory: string;
  readonly #port: number;

  constructor(directory: string, port: number) {
    this.#directory = directory;
    this.#port = port;
  }

  /** Begins a profile. @returns how to end it, which writes it and a summary of it under the given name */
  async begin(name: string): Promise<() => Promise<void>> {
    const session = await InspectorSession.open(this.#port);
    await session.call('Profiler.enable');
    await session.call('Profiler.setSamplingInterval', { interval: samplingIntervalUs });
    await session.call('Profiler.start');
    return async () => {
      const { profile } = (await session.call('Profiler.stop')) as { profile: CpuProfile };
      session.close();
      await mkdir(this.#directory, { recursive: true });
      const file = path.join(this.#directory, name.replaceAll(/\W+/g, '-'));
      await writeFile(`${file}.cpuprofile`, JSON.stringify(profile));
      await writeFile(`${file}.txt`, profileSummary(profile, path.resolve(import.meta.dirname, '../..')));
    };
  }
}

/** The protocol of V8's inspector, as far as it takes a question and its answer. */
class InspectorSession {
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, (result: unknown) => void>();
  #last = 0;

  static async open(port: number): Promise<InspectorSession> {
    const [target] = (await (await fetch(`http://127.0.0.1:${port}/json/list`)).json()) as { webSocketDebuggerUrl: string }[];
    const socket = new WebSocket(target!.webSocketDebuggerUrl);
    await new Promise((resolve, reject) => {
      socket.addEventListener('open', resolve, { once: true });
      socket.addEventListener('error', () => reject(new Error('no debugger answers')), { once: true });
    });
    return new InspectorSession(socket);
  }

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener('message', ({ data }) => {
      const { id, result } = JSON.parse(String(data)) as { id?: number; result?: unknown };
      if (id === undefined) return;
      this.#waiting.get(id)?.(result);
      this.#waiting.delete(id);
    });
  }

  call(method: string, params: object = {}): Promise<unknown> {
    this.#last += 1;
    const id = this.#last;
    this.#socket.send(JSON.stringify({ id, method, params }));
    return new Promise((resolve) => this.#waiting.set(id, resolve));
  }

  close(): void {
    this.#socket.close();
  }
}
