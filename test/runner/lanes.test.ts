import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { eventually } from '../poll.ts';
import { fixturesRun, runFixtures } from './fixtures.ts';

const passing = 'ok   test/runner-fixtures/integration/passing.ts: 2 passed';

describe('test runner with lanes', () => {
  for (const { name, fixtures, args = ['--lanes', '2'], closing, shows = [], code } of [
    {
      name: 'sums up, with a line a file', fixtures: ['passing', 'integration/passing', 'integration/failing', 'integration/failing-before', 'integration/broken-import'], closing: '5 passed, 5 failed', code: 1,
      shows: [
        'ok   test/runner-fixtures/passing.ts: 2 passed', passing, 'FAIL test/runner-fixtures/integration/failing.ts: 1 passed, 1 FAILED',
        '+   a: 1', 'no control plane', '   test/runner-fixtures/integration/failing-before.ts: outer › hidden two', 'no-such-file.ts',
        `\n0 passed, 9 failed\npassing, the second line\n${passing}`, // what a file prints stays together, and does not count
      ],
    },
    { name: 'passes where all pass', fixtures: ['integration/passing', 'integration/skipping'], args: [], closing: '3 passed, 0 failed, 1 skipped', code: 0 },
    {
      name: 'counts what a lane owed whose process exits in the middle, or is killed', fixtures: ['integration/exiting', 'integration/killed', 'integration/passing'], closing: '4 passed, 4 failed', code: 1,
      shows: [
        ') test/runner-fixtures/integration/exiting.ts: ends the process', '   test/runner-fixtures/integration/exiting.ts: has no turn',
        ') test/runner-fixtures/integration/killed.ts: kills the process', 'its process was ended by SIGKILL while this ran', '   test/runner-fixtures/integration/killed.ts: has no turn', passing,
      ],
    },
    {
      name: 'ends a lane that hangs, one that never yields, and one whose watchdog hangs too', fixtures: ['integration/endless-wait', 'integration/endless-loop', 'integration/stopped', 'integration/passing'],
      args: ['--lanes', '4', '--total-timeout', '8000', '--grace', '1500'], closing: '3 passed, 3 failed', code: 1,
      shows: ['endless-wait.ts: waits for ever', 'and this was running', 'endless-loop.ts: never yields', 'was ended by SIGKILL', 'stopped.ts: is stopped with its watchdog', 'was killed (the run took longer than 8 s', passing],
    },
    { name: 'runs everything in one process if told to', fixtures: ['integration/passing', 'integration/failing'], args: ['--lanes', '1'], closing: '3 passed, 1 failed', code: 1, shows: ['4 tests in 2 files'] },
    { name: 'filters titles', fixtures: ['integration/passing', 'integration/failing'], args: ['--lanes', '2', '--grep', 'passing one'], closing: '1 passed, 0 failed', code: 0 },
    { name: 'says that no title matches', fixtures: ['integration/passing', 'integration/failing'], args: ['--lanes', '2', '--grep', 'no such title'], closing: '0 passed, 1 failed', code: 1, shows: ['nothing to run'] },
    { name: 'filters paths', fixtures: ['integration/passing', 'integration/failing'], args: ['--lanes', '2', 'n/pass'], closing: '2 passed, 0 failed', code: 0 },
  ] as { name: string; fixtures: string[]; args?: string[]; closing: string; shows?: string[]; code: number }[]) {
    it(name, async () => {
      const run = await runFixtures(fixtures, args);
      assert.equal(run.closing, closing, run.output);
      assert.equal(run.code, code, run.output);
      for (const text of shows) assert.ok(run.output.includes(text), `"${text}" is missing in:\n${run.output}`);
    });
  }

  describe('ended from outside', () => {
    let directory: string;
    beforeEach(async () => {
      directory = await mkdtemp(path.join(tmpdir(), 'lanes-'));
    });
    afterEach(() => rm(directory, { recursive: true, force: true }));

    for (const signal of ['SIGINT', 'SIGTERM', 'SIGKILL'] as const) {
      it(`by ${signal}, leaves nothing behind`, async () => {
        const pidsFile = path.join(directory, 'pids');
        const run = fixturesRun(['integration/passing', 'integration/with-child'], ['--lanes', '2', '--grace', '500'], { PIDS_FILE: pidsFile });
        const pids = await eventually('the child runs', async () => (await readFile(pidsFile, 'utf8').catch(() => '')).match(/\d+/g)?.map(Number));
        await eventually('the other file is over', () => run.output().includes(passing));
        process.kill(run.pid, signal);
        const { output, code, closing } = await run.over;
        if (signal !== 'SIGKILL') {
          assert.match(closing ?? '', /^2 passed, [23] failed$/, output); // it may meet the other lane while that closes
          assert.equal(code, 1);
          assert.match(output, /with-child.ts: waits for a child\n.*was ended by SIGTERM/);
        }
        await eventually('the lane and its child have ended', () => !pids.some(isThere), { withinMs: 10_000 });
      });
    }
  });
});

const isThere = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};
