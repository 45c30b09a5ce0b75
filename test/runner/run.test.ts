import assert from 'node:assert/strict';
import { runFixtures } from './fixtures.ts';

describe('test runner', () => {
  for (const { name, fixtures, args, closing, shows = [], code } of [
    { name: 'passing tests', fixtures: ['passing'], closing: '2 passed, 0 failed', code: 0, shows: ['ok   test/runner-fixtures/passing.ts: 2 passed'] },
    { name: 'skipped tests are counted apart', fixtures: ['skipping'], closing: '1 passed, 0 failed, 2 skipped', code: 0 },
    {
      name: 'failures, with details', fixtures: ['failing', 'passing'], closing: '3 passed, 2 failed', code: 1,
      shows: ['FAIL test/runner-fixtures/failing.ts: 1 passed, 2 FAILED', '+   a: 1', 'Timeout of 50ms exceeded'],
    },
    { name: 'a file with a broken import, and the others run', fixtures: ['broken-import', 'passing'], closing: '2 passed, 1 failed', code: 1, shows: ['no-such-file.ts'] },
    { name: 'a file that throws registers nothing', fixtures: ['broken-body', 'passing'], closing: '2 passed, 1 failed', code: 1, shows: ['in the body of a file'] },
    { name: 'an exclusive test is refused', fixtures: ['exclusive', 'passing'], closing: '2 passed, 1 failed', code: 1, shows: ['exclusive.ts'] },
    { name: 'a failed before hook and all that it hides', fixtures: ['failing-before'], closing: '1 passed, 3 failed', code: 1, shows: ['no control plane', 'outer › inner › hidden two'] },
    { name: 'a failed afterEach hook and all that it hides', fixtures: ['failing-after-each'], closing: '1 passed, 2 failed', code: 1, shows: ['cannot clean up'] },
    { name: 'a failed clean-up at the end of the run', fixtures: ['failing-at-end'], closing: '1 passed, 1 failed', code: 1, shows: ['would not stop'] },
    { name: 'an open handle is named and does not hang', fixtures: ['open-handle'], closing: '1 passed, 0 failed', code: 0, shows: ['TCPServerWrap'] },
    { name: 'a rejection that nobody handles', fixtures: ['stray-rejection'], closing: '1 passed, 1 failed', code: 1, shows: ['nobody waits for me'] },
    { name: 'a test that ends the process', fixtures: ['exiting'], closing: '1 passed, 1 failed', code: 1, shows: ['ends the process'] },
    { name: 'a file that never finishes loading', fixtures: ['endless-import'], closing: '0 passed, 1 failed', code: 1, shows: ['loading test/runner-fixtures/endless-import.ts'] },
    { name: 'the watchdog names what never ends', fixtures: ['endless-wait'], args: ['--total-timeout', '1500'], closing: '0 passed, 1 failed', code: 1, shows: ['waits for ever'] },
    { name: 'no file', fixtures: ['no-such-fixture'], closing: '0 passed, 1 failed', code: 1, shows: ['nothing to run'] },
    { name: 'a title filter', fixtures: ['passing', 'failing'], args: ['--grep', 'passing one'], closing: '1 passed, 0 failed', code: 0 },
    { name: 'a path filter', fixtures: ['passing', 'failing'], args: ['fixtures/pass'], closing: '2 passed, 0 failed', code: 0 },
    { name: 'an unknown option', fixtures: [], args: ['--nonsense'], closing: '0 passed, 1 failed', code: 1, shows: ['--nonsense'] },
  ] as { name: string; fixtures: string[]; args?: string[]; closing: string; shows?: string[]; code: number }[]) {
    it(name, async () => {
      const run = await runFixtures(fixtures, args);
      assert.equal(run.closing, closing, run.output);
      assert.equal(run.code, code, run.output);
      for (const text of shows) assert.ok(run.output.includes(text), `"${text}" is missing in:\n${run.output}`);
    });
  }

  it('kills a test that never yields, and still closes', async () => {
    const run = await runFixtures(['endless-loop'], ['--total-timeout', '1500', '--grace', '200']);
    assert.equal(run.signal, 'SIGKILL');
    assert.equal(run.closing, '1 passed, 1 failed');
    assert.match(run.output, /never yields/);
  });
});
