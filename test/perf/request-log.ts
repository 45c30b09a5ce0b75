import { open, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fenceName } from '../../pkg/storage/records/fence-object.ts';

/** What the server's ServiceAccount asked of the kube-apiserver. Leases and fences are counted apart: they are there whatever happens. */
export interface Requests {
  reads: number;
  /** Those among the reads that list a collection. */
  lists: number;
  writes: number;
  upkeep: number;
}

const serviceAccount = 'system:serviceaccount:cozy-system:tenant-apiserver';
const reading = new Set(['get', 'list', 'watch']);

/** Counts from the kube-apiserver's audit log, which it writes before it answers. */
export class RequestLog {
  readonly #file: string;
  #offset = 0;

  /** @returns the flags for the kube-apiserver, and the log */
  static async create(directory: string): Promise<{ apiserverArgs: string[]; log: RequestLog }> {
    const [policy, file] = [path.join(directory, 'requests-policy.json'), path.join(directory, 'requests.log')];
    const rules = [{ level: 'Metadata', users: [serviceAccount], omitStages: ['RequestReceived', 'ResponseStarted'] }, { level: 'None' }];
    await writeFile(policy, JSON.stringify({ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules }));
    await writeFile(file, '');
    return { apiserverArgs: [`--audit-policy-file=${policy}`, `--audit-log-path=${file}`, '--audit-log-maxsize=0'], log: new RequestLog(file) };
  }

  private constructor(file: string) {
    this.#file = file;
  }

  /** What was asked since the last call. */
  async since(): Promise<Requests> {
    const requests: Requests = { reads: 0, lists: 0, writes: 0, upkeep: 0 };
    for (const line of await this.#lines()) {
      const { verb, objectRef } = JSON.parse(line) as { verb: string; objectRef?: { resource?: string; apiGroup?: string; name?: string } };
      if (isUpkeep(objectRef)) requests.upkeep += 1;
      else if (!reading.has(verb)) requests.writes += 1;
      else {
        requests.reads += 1;
        if (verb === 'list') requests.lists += 1;
      }
    }
    return requests;
  }

  async #lines(): Promise<string[]> {
    const file = await open(this.#file);
    try {
      const { size } = await file.stat();
      const bytes = Buffer.alloc(size - this.#offset);
      await file.read(bytes, 0, bytes.length, this.#offset);
      const whole = bytes.subarray(0, bytes.lastIndexOf(0x0a) + 1);
      this.#offset += whole.length;
      return whole.toString('utf8').split('\n').filter(Boolean);
    } finally {
      await file.close();
    }
  }
}

/** The Lease, fences, and what the server asks about users and certificates for requests that the benchmark itself makes. */
const isUpkeep = (reference: { resource?: string; apiGroup?: string; name?: string } | undefined): boolean => {
  const { resource = '', apiGroup = '', name = '' } = reference ?? {};
  return apiGroup === 'coordination.k8s.io' || apiGroup.startsWith('authorization.') || apiGroup.startsWith('authentication.') || (apiGroup === 'records.cozystack.io' && name === fenceName) || resource === '';
};
