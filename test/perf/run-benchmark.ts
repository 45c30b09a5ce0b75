import { runAtEnd } from '../lifecycle.ts';

/** Runs a benchmark that says whether a promise was broken, stops what it started, and ends the process. */
export const runBenchmark = async (main: () => Promise<boolean | void>): Promise<never> => {
  let failed = true;
  try {
    failed = (await main()) ?? false;
  } finally {
    await runAtEnd(failed);
  }
  process.exit(failed ? 1 : 0);
};
