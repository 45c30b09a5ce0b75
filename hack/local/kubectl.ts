import { spawn } from 'node:child_process';

export interface KubectlOptions {
  /** Sent on standard input. */
  input?: string;
  /** Ends the command, which may wait for ever on finalizers. 60 s if left out. */
  timeoutMs?: number;
  environment?: Record<string, string>;
}

export interface KubectlResult {
  code: number;
  stdout: string;
  stderr: string;
}

/** kubectl against one control plane. */
export class Kubectl {
  readonly #path: string;
  readonly #kubeconfig: string;

  constructor(path: string, kubeconfig: string) {
    this.#path = path;
    this.#kubeconfig = kubeconfig;
  }

  /** Runs a command, whatever comes of it. Throws only if it cannot be run or takes too long. */
  try(args: readonly string[], { input, timeoutMs = 60_000, environment = {} }: KubectlOptions = {}): Promise<KubectlResult> {
    return new Promise((resolve, reject) => {
      const child = spawn(this.#path, ['--kubeconfig', this.#kubeconfig, ...args], { env: { ...process.env, ...environment } });
      const result: KubectlResult = { code: -1, stdout: '', stderr: '' };
      const timer = setTimeout(() => {
        child.kill('SIGKILL');
        reject(new Error(`kubectl ${args.join(' ')} took more than ${timeoutMs / 1000} s\n${result.stdout}${result.stderr}`));
      }, timeoutMs);
      child.stdout.setEncoding('utf8').on('data', (text: string) => (result.stdout += text));
      child.stderr.setEncoding('utf8').on('data', (text: string) => (result.stderr += text));
      child.stdin.on('error', () => undefined); // a command that ends early says why on its own
      child.once('error', reject);
      child.once('close', (code) => {
        clearTimeout(timer);
        resolve({ ...result, code: code ?? -1 });
      });
      child.stdin.end(input);
    });
  }

  /** What a command prints. Throws with all it said if it fails. */
  async run(args: readonly string[], options: KubectlOptions = {}): Promise<string> {
    const { code, stdout, stderr } = await this.try(args, options);
    if (code !== 0) throw new Error(`kubectl ${args.join(' ')} failed (${code}):\n${stderr}${stdout}`);
    return stdout;
  }

  /** What a command prints, parsed as JSON. */
  async json<T = any>(args: readonly string[], options: KubectlOptions = {}): Promise<T> {
    return JSON.parse(await this.run([...args, '-o', 'json'], options)) as T;
  }
}
