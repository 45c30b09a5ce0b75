import { glob } from 'node:fs/promises';
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
}

// Cheap tests first: what they find makes the others' failures easier to read.
const projectPatterns = [
  'api/**/*.test.ts', 'pkg/**/*.test.ts', 'hack/**/*.test.ts', 'cmd/**/*.test.ts', 'test/runner/**/*.test.ts',
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
      timeout: { type: 'string', default: '60000' },
      'total-timeout': { type: 'string', default: String(30 * 60_000) },
      grace: { type: 'string', default: '5000' },
    },
  });
  return {
    filters: positionals,
    grep: values.grep,
    patterns: values.files ?? projectPatterns,
    timeoutMs: positiveInteger('--timeout', values.timeout),
    totalTimeoutMs: positiveInteger('--total-timeout', values['total-timeout']),
    graceMs: positiveInteger('--grace', values.grace),
  };
};

const positiveInteger = (flag: string, text: string): number => {
  if (!/^[1-9]\d*$/.test(text)) throw new TypeError(`${flag} takes a number of milliseconds, not "${text}"`);
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
