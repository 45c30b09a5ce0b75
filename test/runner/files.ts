import { glob } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';

export interface RunnerOptions {
  /** Only files whose path contains one of these; all if empty. */
  filters: string[];
  grep: string | undefined;
  /** Replace the project's own patterns. */
  patterns: string[];
  /** A test's limit in ms, unless it sets one itself. */
  timeoutMs: number;
  /** The whole run's limit in ms. */
  totalTimeoutMs: number;
  /** How long the run gets to end by itself once that limit is reached, in ms. */
  graceMs: number;
  /** How many processes run the files that need a control plane; 1 to run them in this one. */
  lanes: number;
  /** Whether this process is one of those: it tells the runner what it comes to, rather than close with a count. */
  isLane: boolean;
}

// Cheap tests first: what they find makes the others' failures easier to read.
const projectPatterns = [
  'api/**/*.test.ts', 'pkg/**/*.test.ts', 'hack/**/*.test.ts', 'cmd/**/*.test.ts', 'test/runner/**/*.test.ts', 'test/perf/**/*.test.ts',
  'test/integration/**/*.test.ts', 'test/contract/**/*.test.ts',
];

/** Throws TypeError on an unknown option. */
export const parseRunnerOptions = (args: string[]): RunnerOptions => {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      grep: { type: 'string', short: 'g' },
      files: { type: 'string', multiple: true },
      timeout: { type: 'string', default: '120000' },
      'total-timeout': { type: 'string', default: String(30 * 60_000) },
      grace: { type: 'string', default: '5000' },
      // These files wait more than they compute; a control plane of each lane takes about 1 GB of memory.
      lanes: { type: 'string', default: String(Math.min(availableParallelism() + 1, 6)) },
      'is-lane': { type: 'boolean', default: false },
    },
  });
  return {
    filters: positionals,
    grep: values.grep,
    patterns: values.files ?? projectPatterns,
    timeoutMs: positiveInteger('--timeout', values.timeout),
    totalTimeoutMs: positiveInteger('--total-timeout', values['total-timeout']),
    graceMs: positiveInteger('--grace', values.grace),
    lanes: positiveInteger('--lanes', values.lanes, ''),
    isLane: values['is-lane'],
  };
};

const positiveInteger = (flag: string, text: string, unit = ' of milliseconds'): number => {
  if (!/^[1-9]\d*$/.test(text)) throw new TypeError(`${flag} takes a number${unit}, not "${text}"`);
  return Number(text);
};

/** Paths relative to `root`, in the order in which they run. */
export const findTestFiles = async (root: string, { patterns, filters }: RunnerOptions): Promise<string[]> => {
  const files = new Set<string>();
  for (const pattern of patterns) {
    const matches: string[] = [];
    for await (const file of glob(pattern, { cwd: root, exclude: (name) => path.basename(name) === 'node_modules' })) matches.push(file);
    for (const file of matches.sort()) files.add(file);
  }
  return [...files].filter((file) => filters.length === 0 || filters.some((filter) => file.includes(filter)));
};
