import { rmSync } from 'node:fs';
import { access, mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { isRunning, markOf, type ProcessMark } from './process-mark.ts';

/** What wrote the data of a run folder. */
export interface Origin {
  /** Counts up when an older folder cannot be used any more. */
  layout: number;
  kubernetes: string;
  etcd: string;
}

const layout = 1;

/** What this process has to remove at its end. One listener for all: Node warns about many. */
const locks = new Set<string>();
const removeLocks = (): void => locks.forEach((lock) => rmSync(lock, { force: true }));

/** Where data, kubeconfig, kubectl and logs of `npm start` lie; one process at a time has it. */
export class RunFolder {
  readonly directory: string;
  /** Whether data of an earlier start lies in it. */
  readonly kept: boolean;

  /** Takes the folder for this process until it exits. Throws when another one has it. */
  static async take(directory: string, log: (line: string) => void): Promise<RunFolder> {
    await mkdir(directory, { recursive: true });
    const lock = path.join(directory, 'lock');
    for (;;) {
      const holder = await readJson<ProcessMark>(lock);
      if (holder && holder.pid !== process.pid && isRunning(holder)) throw new Error(`another npm start runs already (process ${holder.pid}) and has ${directory}; use that one, or end it with Ctrl-C first`);
      // Also one that is empty or broken: whoever wrote it was killed half-way.
      await rm(lock, { force: true });
      const written = await writeFile(lock, JSON.stringify(markOf(process.pid)), { flag: 'wx' }).then(() => true, ifCode('EEXIST', false));
      // Of two that start at once, the later may have removed the earlier one's lock: the file's last writer has it.
      await setTimeout(20);
      if (written && (await readJson<ProcessMark>(lock))?.pid === process.pid) break;
    }
    locks.add(lock);
    process.off('exit', removeLocks).once('exit', removeLocks);
    const folder = new RunFolder(directory, await exists(path.join(directory, 'etcd')));
    await folder.#endLeftovers(log);
    await folder.#keepFormerLogs();
    return folder;
  }

  private constructor(directory: string, kept: boolean) {
    this.directory = directory;
    this.kept = kept;
  }

  get logs(): string {
    return path.join(this.directory, 'logs');
  }

  /** What to do about data that does not work any more. */
  get advice(): string {
    return `remove ${this.directory} and start again (this deletes the cluster in it; the example tree is made anew)`;
  }

  /** Checks that data from an earlier start can be read by these versions, as in `1.37.2`, and notes them. Throws with what to do if not. */
  async claim(versions: Omit<Origin, 'layout'>): Promise<void> {
    const file = path.join(this.directory, 'made-by.json');
    const origin: Origin = { layout, kubernetes: minor(versions.kubernetes), etcd: minor(versions.etcd) };
    const former = await readJson<Origin>(file);
    if (this.kept && JSON.stringify(former) !== JSON.stringify(origin)) {
      throw new Error(`the data in ${this.directory} was made by ${former ? describe(former) : 'something unknown'}, and this is ${describe(origin)}: ${this.advice}`);
    }
    await writeFile(file, JSON.stringify(origin));
  }

  /** Puts kubectl at its fixed place. */
  async linkKubectl(executable: string): Promise<void> {
    const bin = path.join(this.directory, 'bin');
    await mkdir(bin, { recursive: true });
    const link = path.join(bin, 'kubectl');
    await rm(`${link}.new`, { force: true });
    await symlink(executable, `${link}.new`);
    await rename(`${link}.new`, link);
  }

  /** Notes which processes were started, for whoever has to clean up after this one was killed. */
  async record(processes: Readonly<Record<string, number>>): Promise<void> {
    const marks = Object.fromEntries(Object.entries(processes).map(([name, pid]) => [name, markOf(pid)]));
    await writeFile(this.#processesFile, JSON.stringify(marks, undefined, 2));
  }

  /** A text that was noted under a name at an earlier start. */
  async recall(name: string): Promise<string | undefined> {
    return this.kept ? readFile(path.join(this.directory, name), 'utf8').catch(ifCode('ENOENT', undefined)) : undefined;
  }

  async note(name: string, text: string): Promise<void> {
    await writeFile(path.join(this.directory, name), text);
  }

  get #processesFile(): string {
    return path.join(this.directory, 'processes.json');
  }

  /** Where the system does not end children with their parent, a killed start leaves them, and they hold the data. */
  async #endLeftovers(log: (line: string) => void): Promise<void> {
    const marks = (await readJson<Record<string, ProcessMark>>(this.#processesFile)) ?? {};
    for (const [name, mark] of Object.entries(marks)) {
      // Without a start time it may be anybody's process by now.
      if (mark.startedAt === undefined || !isRunning(mark)) continue;
      log(`${name} of an earlier start still runs (process ${mark.pid}) and is ended`);
      process.kill(mark.pid, 'SIGKILL');
      while (isRunning(mark)) await setTimeout(20);
    }
  }

  /** One former log each, so that what is shown of a log is of this start and the folder does not grow. */
  async #keepFormerLogs(): Promise<void> {
    await mkdir(this.logs, { recursive: true });
    for (const name of await readdir(this.logs)) {
      if (/(?<!\.former)\.log$/.test(name)) await rename(path.join(this.logs, name), path.join(this.logs, name.replace(/\.log$/, '.former.log')));
    }
  }
}

const minor = (version: string): string => version.split('.').slice(0, 2).join('.');
const describe = ({ layout: made, kubernetes, etcd }: Origin): string => `Kubernetes ${kubernetes} with etcd ${etcd} (layout ${made})`;
const exists = (file: string): Promise<boolean> => access(file).then(() => true, () => false);

const readJson = async <T>(file: string): Promise<T | undefined> => {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as T;
  } catch {
    return undefined;
  }
};

const ifCode = <T>(code: string, value: T) => (error: NodeJS.ErrnoException): T => {
  if (error.code !== code) throw error;
  return value;
};
