import { describe, it } from 'mocha';
import assert from 'node:assert/strict';
import { BlockingBackend } from './delivery.ts';
import { countedMetrics, eventNamed, Receiver } from './fixtures.ts';
import { union, type Backend } from './sink.ts';

const blocking = (receiver: Receiver, strict: boolean): { backend: BlockingBackend; lost: () => Promise<number> } => {
  const { metrics, value } = countedMetrics();
  return { backend: new BlockingBackend(receiver, { strict, truncate: undefined, metrics }), lost: () => value('apiserver_audit_error_total', { plugin: 'webhook' }) };
};

describe('a blocking backend', () => {
  for (const [strict, answer] of [[false, true], [true, false]] as const) {
    it(`${strict ? 'refuses' : 'lets pass'} what could not be delivered${strict ? ', being strict' : ''}, and counts it`, async () => {
      const receiver = new Receiver();
      const { backend, lost } = blocking(receiver, strict);
      const processed = backend.process(eventNamed('a'));
      receiver.fail();
      assert.equal(await processed, answer);
      assert.equal(await lost(), 1);
    });
  }

  it('waits for the delivery', async () => {
    const receiver = new Receiver();
    const { backend } = blocking(receiver, true);
    let done = false;
    const processed = Promise.resolve(backend.process(eventNamed('a'))).then((answer) => (done = answer));
    await receiver.arrived(1);
    assert.equal(done, false);
    receiver.succeed();
    assert.equal(await processed, true);
  });

  it('stops within its time', async () => {
    const receiver = new Receiver();
    const { backend, lost } = blocking(receiver, false);
    const processed = backend.process(eventNamed('a'));
    await backend.stop(5);
    assert.equal(await processed, true);
    assert.equal(await lost(), 1);
    assert.ok(receiver.closed);
  });
});

describe('several backends', () => {
  const answering = (answer: boolean | Promise<boolean>, seen: string[] = []): Backend => ({
    start: () => Promise.resolve(),
    process: ({ auditID }) => {
      seen.push(auditID);
      return answer;
    },
    stop: () => Promise.resolve(),
  });

  for (const [answers, expected] of [
    [[true, true], true],
    [[true, false], false],
    [[true, Promise.resolve(true)], true],
    [[true, Promise.resolve(false)], false],
    [[false, Promise.resolve(true)], false],
  ] as const) {
    it(`agree on ${expected}`, async () => assert.equal(await union(answers.map((answer) => answering(answer))).process(eventNamed('a')), expected));
  }

  it('all get every event, and answer at once where each does', () => {
    const [one, other]: [string[], string[]] = [[], []];
    const both = union([answering(false, one), answering(true, other)]);
    assert.equal(both.process(eventNamed('a')), false);
    assert.deepEqual([one, other], [['a'], ['a']]);
  });
});
