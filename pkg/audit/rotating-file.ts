import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, open, readdir, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';

/** When a log file is put aside, and what is kept of those; 0 is without limit. */
export interface RotationOptions {
  path: string;
  maxSizeBytes: number;
  maxAgeDays: number;
  maxBackups: number;
  /** Whether what is put aside is compressed. */
  compress: boolean;
}

interface WaitingText {
  text: string;
  done: () => void;
  fail: (error: unknown) => void;
}

const dayMs = 24 * 3600 * 1000;
const mode = 0o600;

/**
 * A file that is appended to, and put aside under the time when it gets too large: `audit.log` as
 * `audit-2026-01-31T23-59-59.999.log`, as the kube-apiserver names its own. A write that fails is an error of that write only.
 */
export class RotatingFile {
  readonly #options: RotationOptions;
  readonly #now: () => number;
  readonly #onError: (error: unknown) => void;
  #file: { handle: FileHandle; size: number } | undefined;
  /** Texts that wait for the write under way, to be written as one. */
  #waiting: WaitingText[] = [];
  #writing: Promise<void> | undefined;
  #tidying: Promise<void> = Promise.resolve();

  /** @param onError told where a file that was put aside cannot be compressed or removed */
  constructor(options: RotationOptions, onError: (error: unknown) => void, now: () => number = Date.now) {
    this.#options = options;
    this.#onError = onError;
    this.#now = now;
  }

  /** Makes the folder and the file where they are missing. @throws Error where they cannot be written */
  async open(): Promise<void> {
    await this.#opened();
    this.#tidy();
  }

  /** Appends a text, whole and in order. @throws Error where it could not be written */
  append(text: string): Promise<void> {
    return new Promise((done, fail) => {
      this.#waiting.push({ text, done, fail });
      this.#writing ??= this.#writeAll();
    });
  }

  async close(): Promise<void> {
    await this.#writing;
    await this.#file?.handle.close();
    this.#file = undefined;
    await this.#tidying;
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#nextBatch();
      try {
        await this.#write(batch.map(({ text }) => text).join(''));
        for (const { done } of batch) done();
      } catch (error) {
        for (const { fail } of batch) fail(error);
      }
    }
    this.#writing = undefined; // in the same breath as the look that found nothing: whoever comes now begins anew
  }

  /** As many texts as the file has room for; at least one. */
  #nextBatch(): WaitingText[] {
    const { maxSizeBytes } = this.#options;
    let size = this.#file?.size ?? 0;
    let count = 0;
    for (const { text } of this.#waiting) {
      size += Buffer.byteLength(text);
      if (count > 0 && maxSizeBytes > 0 && size > maxSizeBytes) break;
      count += 1;
    }
    return this.#waiting.splice(0, count);
  }

  async #write(text: string): Promise<void> {
    const bytes = Buffer.from(text);
    const { maxSizeBytes } = this.#options;
    let file = await this.#opened();
    if (maxSizeBytes > 0 && file.size > 0 && file.size + bytes.length > maxSizeBytes) {
      await this.#putAside();
      file = await this.#opened();
    }
    try {
      await file.handle.appendFile(bytes);
      file.size += bytes.length;
    } catch (error) {
      this.#file = undefined; // begun anew by the next write: the disk may have room then, the folder be back
      await file.handle.close().catch(() => undefined);
      throw error;
    }
  }

  async #opened(): Promise<{ handle: FileHandle; size: number }> {
    if (this.#file) return this.#file;
    await mkdir(path.dirname(this.#options.path), { recursive: true, mode: 0o700 });
    const handle = await open(this.#options.path, 'a', mode);
    this.#file = { handle, size: (await handle.stat()).size };
    return this.#file;
  }

  async #putAside(): Promise<void> {
    await this.#file?.handle.close();
    this.#file = undefined;
    const { dir, name, ext } = path.parse(this.#options.path);
    for (let at = this.#now(); ; at += 1) {
      const target = path.join(dir, `${name}-${new Date(at).toISOString().slice(0, -1).replaceAll(':', '-')}${ext}`);
      if (await isFree(target)) {
        await rename(this.#options.path, target);
        break;
      }
    }
    this.#tidy();
  }

  #tidy(): void {
    this.#tidying = this.#tidying.then(() => this.#removeAndCompress()).catch(this.#onError);
  }

  async #removeAndCompress(): Promise<void> {
    const { maxAgeDays, maxBackups, compress } = this.#options;
    const { dir } = path.parse(this.#options.path);
    const since = maxAgeDays > 0 ? this.#now() - maxAgeDays * dayMs : -Infinity;
    const kept = maxBackups > 0 ? maxBackups : Infinity;
    const newestFirst = (await readdir(dir || '.')).flatMap((file) => this.#backup(file)).toSorted((a, b) => b.at - a.at);
    for (const [index, { file, at }] of newestFirst.entries()) {
      const backup = path.join(dir, file);
      if (index >= kept || at < since) await rm(backup, { force: true });
      else if (compress && !file.endsWith('.gz')) await compressed(backup);
    }
  }

  /** When a file was put aside, if its name says that it was. */
  #backup(file: string): { file: string; at: number }[] {
    const { name, ext } = path.parse(this.#options.path);
    const plain = file.endsWith('.gz') ? file.slice(0, -3) : file;
    if (!plain.startsWith(`${name}-`) || !plain.endsWith(ext)) return [];
    const stamp = /^(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d\.\d{3})$/.exec(plain.slice(name.length + 1, plain.length - ext.length));
    const at = stamp ? Date.parse(`${stamp[1]}T${stamp[2]}:${stamp[3]}:${stamp[4]}Z`) : Number.NaN;
    return Number.isNaN(at) ? [] : [{ file, at }];
  }
}

const isFree = async (file: string): Promise<boolean> => {
  for (const name of [file, `${file}.gz`]) if (await stat(name).catch(() => undefined)) return false;
  return true;
};

/** Replaces a file by its compressed form, which appears whole or not at all. */
const compressed = async (file: string): Promise<void> => {
  const unfinished = `${file}.gz.part`;
  await pipeline(createReadStream(file), createGzip(), createWriteStream(unfinished, { mode }));
  await rename(unfinished, `${file}.gz`);
  await rm(file);
};
