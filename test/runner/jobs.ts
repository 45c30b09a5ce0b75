import { readFile } from 'node:fs/promises';
import path from 'node:path';

/** Files that one process runs, one after another. */
export interface Job {
  files: string[];
  /** About how long it takes, in seconds; jobs begin in the order of these, longest first. */
  seconds: number;
}

/** Measured on 2 busy cores. Only the order of jobs depends on them. */
const measured: Record<string, number> = {
  'start.test.ts': 280,
  'outage.test.ts': 270,
  'garbage-collection.test.ts': 230,
  'garbage-collection-namespaces.test.ts': 150,
  'contract.test.ts': 150,
  'expiry.test.ts': 150,
  'watch-storm.test.ts': 120,
};
const usual = 90;

/** Whether a file needs a control plane, and so goes to a lane. */
export const isForLanes = (file: string): boolean => /(^|\/)(integration|contract|e2e|heavy)\//.test(file);

/**
 * Files that share a control plane run in one process, which starts it once; each other one has a process of its own.
 * Those that need the twins on it are apart from those that do not, since all together would end last by far.
 */
export const jobsOf = async (root: string, files: readonly string[]): Promise<Job[]> => {
  const jobs = new Map<string, Job>();
  for (const file of files) {
    const text = await readFile(path.join(root, file), 'utf8');
    const key = /\bsharedTwin\b/.test(text) ? 'twins' : /\bshared(ControlPlane|Cluster|StoreWorld)\b/.test(text) ? 'shared' : /\bcontractWorld\b/.test(text) ? 'contract' : /\bdataPlaneWorld\b/.test(text) ? 'data plane' : file;
    const job = jobs.get(key) ?? { files: [], seconds: 0 };
    job.files.push(file);
    job.seconds += measured[path.basename(file)] ?? usual;
    jobs.set(key, job);
  }
  return [...jobs.values()].toSorted((a, b) => b.seconds - a.seconds);
};
