import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import type { KubeObject } from '../../api/meta/v1/types.ts';
import { hasCode } from '../kube/status-error.ts';
import { WatchCache, type CacheEvent, type CacheListener } from './watch-cache.ts';

const object = (name: string, version: number, namespace = 'n'): KubeObject => ({
  apiVersion: 'g/v1',
  kind: 'K',
  metadata: { namespace, name, resourceVersion: String(version) },
});
const namesOf = (cache: WatchCache, namespace?: string): string[] => [...cache.list(namespace)].map((entry) => entry.key);
interface Seen {
  events: CacheEvent[];
  closed: number;
}
const collect = (): Seen => ({ events: [], closed: 0 });
const listenerOf = (seen: Seen): CacheListener => ({ event: (event) => void seen.events.push(event), closed: () => void (seen.closed += 1) });

describe('WatchCache', () => {
  it('lists in the order of etcd, which puts a dash before the slash', () => {
    const cache = new WatchCache();
    cache.replace([object('x', 1, 'a'), object('y', 2, 'a-b'), object('z', 3, 'a')], '3');
    assert.deepEqual(namesOf(cache), ['a-b/y', 'a/x', 'a/z']);
    assert.deepEqual(namesOf(cache, 'a'), ['a/x', 'a/z']);
  });

  it('is not complete before the first list', () => {
    const cache = new WatchCache();
    assert.equal(cache.complete, false);
    cache.replace([], '7');
    assert.equal(cache.complete, true);
    assert.equal(cache.version, 7);
  });

  it('replays what came after a version, and then what comes', () => {
    const cache = new WatchCache();
    cache.replace([object('a', 1)], '5');
    cache.event('MODIFIED', object('a', 6));
    cache.event('ADDED', object('b', 7));
    const seen = collect();
    seen.events.push(...cache.eventsAfter(6));
    cache.listen(listenerOf(seen));
    cache.event('DELETED', object('b', 8));
    assert.deepEqual(seen.events.map(({ type, entry }) => `${type} ${entry.key} ${entry.version}`), ['ADDED n/b 7', 'DELETED n/b 8']);
  });

  it('answers 410 to a version older than its history', () => {
    const cache = new WatchCache();
    cache.replace([], '5');
    assert.throws(() => cache.eventsAfter(4), (error) => hasCode(error, 410));
  });

  it('forgets the oldest events when the history is full, and says so', () => {
    const cache = new WatchCache(4);
    cache.replace([], '1');
    for (let version = 2; version <= 20; version += 1) cache.event('MODIFIED', object('a', version));
    assert.throws(() => cache.eventsAfter(2), (error) => hasCode(error, 410));
    assert.deepEqual(cache.eventsAfter(17).map(({ entry }) => entry.version), [18, 19, 20]);
  });

  it('ends every watch at a relist and makes up no event', () => {
    const cache = new WatchCache();
    cache.replace([object('a', 1)], '1');
    const seen = collect();
    cache.listen(listenerOf(seen));
    cache.replace([], '9');
    assert.equal(seen.closed, 1);
    assert.deepEqual(seen.events, []);
    assert.throws(() => cache.eventsAfter(1), (error) => hasCode(error, 410));
  });

  it('wakes who waits for a version once a bookmark brings it', async () => {
    const cache = new WatchCache();
    cache.replace([], '1');
    const reached = cache.reach(5, AbortSignal.timeout(5000));
    cache.bookmark('5');
    await reached;
  });

  it('gives up waiting when the signal says so', async () => {
    const cache = new WatchCache();
    cache.replace([], '1');
    await assert.rejects(cache.reach(5, AbortSignal.abort(new Error('gone'))), /gone/);
  });

  it('gives every earlier version exactly as it was', () => {
    const change = fc.record({ name: fc.constantFrom('a', 'b', 'c', 'd'), namespace: fc.constantFrom('m', 'n'), remove: fc.boolean() });
    fc.assert(
      fc.property(fc.array(change, { maxLength: 40 }), (changes) => {
        const cache = new WatchCache();
        cache.replace([object('a', 1), object('b', 1, 'm')], '1');
        const snapshots = new Map([[1, namesAndVersions(cache)]]);
        let version = 1;
        for (const { name, namespace, remove } of changes) {
          const exists = cache.get(namespace, name) !== undefined;
          if (remove && !exists) continue;
          version += 1;
          cache.event(remove ? 'DELETED' : exists ? 'MODIFIED' : 'ADDED', object(name, version, namespace));
          snapshots.set(version, namesAndVersions(cache));
        }
        for (const [at, expected] of snapshots) {
          assert.deepEqual([...cache.listAt(at)!].map((entry) => `${entry.key}@${entry.version}`), expected);
        }
        assert.equal(cache.listAt(0), undefined);
        assert.equal(cache.listAt(version + 1), undefined);
      }),
    );
  });
});

const namesAndVersions = (cache: WatchCache): string[] => [...cache.list()].map((entry) => `${entry.key}@${entry.version}`);
