import assert from 'node:assert/strict';
import { describe, it } from 'mocha';
import { eventually } from '../../test/poll.ts';
import { silentLog } from '../controller/log.ts';
import { RefusalLog } from './refusal-log.ts';

describe('RefusalLog', () => {
  it('tells of the first of a kind at once, then how many more there were, and of the first again after a quiet time', async () => {
    const lines: string[] = [];
    const write = (level: string) => (fields: object, text: string): void => void lines.push(`${level} ${text} ${JSON.stringify(fields)}`);
    const refusals = new RefusalLog({ ...silentLog, info: write('info'), warn: write('warn') }, 50);
    for (let count = 0; count < 1000; count += 1) refusals.note('idle', { count });
    refusals.note('403', { user: 'mallory' }, 'info');
    assert.deepEqual(lines, ['warn refused {"count":0,"why":"idle"}', 'info refused {"user":"mallory","why":"403"}']);
    await eventually('the rest is summed up', () => lines.length === 3, { everyMs: 5 });
    assert.equal(lines[2], 'warn refused more of the same {"why":"idle","more":999,"seconds":0.05}');
    await eventually('it is quiet, and then told of again', () => {
      const before = lines.length;
      refusals.note('403', {}, 'info');
      return lines.length > before && lines.at(-1) === 'info refused {"why":"403"}';
    }, { everyMs: 120 });
  });
});
