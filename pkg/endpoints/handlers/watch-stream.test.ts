import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { tenants } from '../../../api/apps/v1alpha1/tenant.ts';
import type { KubeObject } from '../../../api/meta/v1/types.ts';
import { WatchCache } from '../../storage/watch-cache.ts';
import { compileColumns } from '../table.ts';
import type { EventSink, SinkOwner } from './event-sink.ts';
import { eventEncoder } from './watch-events.ts';
import { WatchStream } from './watch-stream.ts';

const mebibyte = 1024 * 1024;
const object = (version: number, name = 'a', size = 10): KubeObject => ({
  apiVersion: 'apps.cozystack.io/v1alpha1', kind: 'Tenant',
  metadata: { namespace: 'n', name, resourceVersion: String(version), annotations: { filling: 'x'.repeat(size) } },
});
const encoder = eventEncoder(tenants, { mediaType: 'application/json', pretty: false }, compileColumns(tenants), { now: () => new Date(), include: 'Metadata' });

/** A connection in memory, whose reader takes what waits when it is told to. */
class Reader implements EventSink {
  waiting = 0;
  most = 0;
  state: 'open' | 'ended' | 'destroyed' = 'open';
  /** Each event's type, with the object's name and version, or the code of an error. */
  readonly told: string[] = [];
  #owner: SinkOwner | undefined;

  readonly open = (owner: SinkOwner): EventSink => {
    this.#owner = owner;
    return this;
  };

  write(bytes: Buffer): void {
    assert.equal(this.state, 'open', 'nothing is written after the end');
    const { type, object: { metadata, code } } = JSON.parse(bytes.toString().replace(/x{2,}/, '')) as { type: string; object: KubeObject & { code?: number } };
    this.told.push(`${type} ${metadata.name ?? ''}@${code ?? metadata.resourceVersion}`);
    this.waiting += bytes.length;
    this.most = Math.max(this.most, this.waiting);
  }

  end(): void {
    this.state = 'ended';
  }

  destroy(): void {
    this.state = 'destroyed';
  }

  take(): void {
    this.waiting = 0;
    this.#owner!.drained();
  }

  leave(): void {
    this.#owner!.gone();
  }
}

const begun = (cache: WatchCache, after: number, initial = false): { reader: Reader; stream: WatchStream; ends: () => number } => {
  let ends = 0;
  const reader = new Reader();
  const stream = new WatchStream({ cache, encoder, namespace: '', selects: undefined, after, ...(initial && { initial: { entries: cache.list(), markEnd: true } }) }, () => (ends += 1));
  stream.begin(reader.open);
  return { reader, stream, ends: () => ends };
};

describe('the stream of a watch', () => {
  it('tells all in order and once, whatever the pace of the reader, and holds little for it', () => {
    const step = fc.constantFrom('change', 'change', 'change', 'large change', 'large change', 'take', 'bookmark');
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), fc.nat(20), fc.boolean(), (steps, past, initial) => {
        const cache = new WatchCache();
        cache.replace(Array.from({ length: 8 }, (_, index) => object(index + 1, `i${index + 1}`, mebibyte / 5)), '10');
        let version = 10;
        const change = (size?: number): void => cache.event(version === 10 ? 'ADDED' : 'MODIFIED', object((version += 1), 'a', size));
        for (let count = 0; count < past; count += 1) change(mebibyte / 4);
        const after = initial ? version : 10;
        const { reader, stream } = begun(cache, after, initial);
        for (const what of steps) {
          if (what === 'take') reader.take();
          else if (what === 'bookmark') stream.bookmark();
          else change(what === 'large change' ? mebibyte / 3 : 10);
        }
        while (reader.waiting > 0) reader.take();
        const state = initial ? [...cache.listAt(after)!].map(({ name, version: at }) => `ADDED ${name}@${at}`) : [];
        const mark = initial ? [`BOOKMARK @${after}`] : [];
        const events = Array.from({ length: version - after }, (_, index) => `${after + index === 10 ? 'ADDED' : 'MODIFIED'} a@${after + index + 1}`);
        const [beginning, rest] = [reader.told.slice(0, state.length + mark.length), reader.told.slice(state.length + mark.length)];
        assert.deepEqual(beginning, [...state, ...mark]);
        assert.deepEqual(rest.filter((line) => !line.startsWith('BOOKMARK')), events);
        // a bookmark confirms what was told before it, no more and no less
        for (const [index, line] of rest.entries()) if (line.startsWith('BOOKMARK')) assert.equal(Number(line.split('@')[1]), index === 0 ? after : Number(rest[index - 1]!.split('@')[1]));
        assert.ok(reader.most < 1.5 * mebibyte, `${reader.most} bytes`);
        assert.equal(reader.state, 'open');
        stream.gone();
      }),
      { numRuns: 30 }, // megabytes each
    );
  });

  it('ends in order for a reader that takes nothing while thousands of events pass', () => {
    const cache = new WatchCache();
    cache.replace([], '1');
    const { reader, ends } = begun(cache, 1);
    for (let version = 2; reader.state === 'open'; version += 1) {
      assert.ok(version < 10_000);
      cache.event('MODIFIED', object(version, 'a', 2000));
    }
    assert.equal(reader.state, 'ended');
    assert.equal(ends(), 1);
    assert.ok(reader.most < 1.5 * mebibyte);
    reader.leave();
    assert.equal(ends(), 1);
  });

  it('goes on for a reader that falls far behind and still takes some', () => {
    const cache = new WatchCache();
    cache.replace([], '1');
    const { reader, stream } = begun(cache, 1);
    for (let version = 2; version <= 8000; version += 1) {
      cache.event('MODIFIED', object(version, 'a', 2000));
      if (version % 1500 === 0) reader.take();
    }
    assert.ok(reader.told.length < 8000 - 2 * 2048, `${reader.told.length} of 8000`);
    while (reader.waiting > 0) reader.take();
    assert.deepEqual([reader.state, reader.told.length, reader.told.at(-1)], ['open', 7999, 'MODIFIED a@8000']);
    stream.gone();
  });

  it('does not write after the cache began anew, however much is left', () => {
    const cache = new WatchCache();
    cache.replace([], '1');
    const { reader } = begun(cache, 1);
    for (let version = 2; version < 20; version += 1) cache.event('MODIFIED', object(version, 'a', mebibyte / 4));
    cache.replace([object(30)], '30');
    const { length } = reader.told;
    assert.equal(reader.state, 'ended');
    reader.take();
    assert.equal(reader.told.length, length);
    reader.leave();
  });

  it('says 410 to a version that the history does not reach, and ends', () => {
    const cache = new WatchCache();
    cache.replace([], '5');
    const { reader, ends } = begun(cache, 4);
    assert.deepEqual(reader.told, ['ERROR @410']);
    assert.deepEqual([reader.state, ends()], ['ended', 1]);
    reader.leave();
  });
});
