import assert from 'node:assert/strict';
import { describe, it } from 'mocha';
import type { KubeObject } from '../../api/meta/v1/types.ts';
import type { KubeClient, KubeRequest } from '../kube/client.ts';
import type { ReflectorHandler } from '../kube/reflector.ts';
import { StatusError } from '../kube/status-error.ts';
import { fromReflector, Informer, onChange } from './informer.ts';

const thing = (name: string, resourceVersion: string, colour = 'red', uid = `uid-${name}`): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Thing',
  metadata: { namespace: 'ns', name, uid, resourceVersion, labels: { colour } },
});

const started = () => {
  let handler!: ReflectorHandler;
  const informer = new Informer(
    (given) => {
      handler = given;
      return () => Promise.resolve();
    },
    { indexes: { colour: ({ metadata }) => [metadata.labels!.colour!] } },
  );
  const seen: string[] = [];
  informer.subscribe({
    onAdd: ({ metadata }) => seen.push(`+${metadata.name}`),
    onUpdate: (old, { metadata }) => seen.push(`~${metadata.name} ${old.metadata.resourceVersion}→${metadata.resourceVersion}`),
    onDelete: ({ metadata }) => seen.push(`-${metadata.name}`),
    onAvailability: (missing) => seen.push(missing ? 'missing' : 'available'),
  });
  informer.start();
  return { informer, handler, seen: () => seen.splice(0) };
};

describe('Informer', () => {
  it('tells what a relist added, changed and dropped, and nothing of what stayed', async () => {
    const { informer, handler, seen } = started();
    handler.replace([thing('a', '1'), thing('b', '2'), thing('c', '3')], '3');
    await informer.synced;
    assert.deepEqual(seen(), ['+a', '+b', '+c']);
    handler.replace([thing('b', '2'), thing('c', '5'), thing('d', '6')], '7');
    assert.deepEqual(seen(), ['-a', '~c 3→5', '+d']);
  });

  it('sees that another object took a name', () => {
    const { handler, seen } = started();
    handler.replace([thing('a', '1')], '1');
    handler.event('MODIFIED', thing('a', '9', 'red', 'other'));
    assert.deepEqual(seen(), ['+a', '-a', '+a']);
  });

  it('finds by index what an object is now, not what it was', () => {
    const { informer, handler } = started();
    const names = (colour: string): (string | undefined)[] => informer.byIndex('colour', colour).map(({ metadata }) => metadata.name);
    handler.replace([thing('a', '1'), thing('b', '2')], '2');
    assert.deepEqual(names('red'), ['a', 'b']);
    handler.event('MODIFIED', thing('a', '3', 'blue'));
    assert.deepEqual([names('red'), names('blue')], [['b'], ['a']]);
    handler.event('DELETED', thing('a', '4', 'blue'));
    assert.deepEqual(names('blue'), []);
  });

  it('is settled but not synced while the resource is missing, and recovers', async () => {
    const { informer, handler, seen } = started();
    handler.interrupted!(new StatusError(404, 'NotFound', 'the server could not find the requested resource'), false);
    await informer.settled;
    assert.equal(informer.missing, true);
    handler.replace([thing('a', '1')], '1');
    await informer.synced;
    handler.interrupted!(new StatusError(404, 'NotFound', 'gone'), true);
    assert.deepEqual(seen(), ['missing', 'available', '+a', '-a', 'missing']);
  });

  it('keeps what it has when a watch breaks for another reason', () => {
    const { informer, handler } = started();
    handler.replace([thing('a', '1')], '1');
    handler.interrupted!(StatusError.unavailable('down'), true);
    assert.equal(informer.size, 1);
    assert.equal(informer.missing, false);
  });

  it('tells a late subscriber what is there', () => {
    const { informer, handler } = started();
    handler.replace([thing('a', '1')], '1');
    const late: string[] = [];
    informer.subscribe({ onAdd: ({ metadata }) => late.push(metadata.name!) });
    assert.deepEqual(late, ['a']);
  });

  it('concerns both what was and what is, and only where it matters', () => {
    const { informer, handler } = started();
    const concerned: string[] = [];
    informer.subscribe(onChange(({ metadata }) => void concerned.push(`${metadata.name} ${metadata.labels!.colour}`), ({ metadata }) => metadata.labels));
    handler.replace([thing('a', '1')], '1');
    handler.event('MODIFIED', thing('a', '2'));
    handler.event('MODIFIED', thing('a', '3', 'blue'));
    handler.event('DELETED', thing('a', '4', 'blue'));
    assert.deepEqual(concerned, ['a red', 'a red', 'a blue', 'a blue']);
  });
});

describe('fromReflector', () => {
  /** Answers lists from `collection` and watches from `watches`, one after the other; a watch beyond these stays open. */
  const clientOf = (collections: (KubeObject[] | null | undefined)[], watches: StatusError[]): KubeClient => {
    const missing = (): never => {
      throw new StatusError(404, 'NotFound', 'the server could not find the requested resource');
    };
    const next = ([items]: typeof collections) => (collections.shift(), items === undefined ? missing() : items);
    const json = async () => ({ apiVersion: 'v1', kind: 'ThingList', metadata: { resourceVersion: '9' }, items: next(collections) });
    const stream = async ({ signal }: KubeRequest) => {
      const failure = watches.shift();
      if (failure) throw failure;
      signal!.throwIfAborted();
      return new Promise((_, reject) => signal!.addEventListener('abort', () => reject(signal!.reason as Error)));
    };
    return { json, stream } as unknown as KubeClient;
  };

  it('begins with a list when a resource that went comes back', async () => {
    const gone = new StatusError(404, 'NotFound', 'gone');
    const errors: unknown[] = [];
    const informer = new Informer(fromReflector({ client: clientOf([[thing('old', '1')], undefined, [thing('new', '2')]], [gone]), path: '/apis/x/v1/things', onError: (error) => errors.push(error) }));
    const seen: string[] = [];
    const back = Promise.withResolvers<void>();
    informer.subscribe({
      onAdd: ({ metadata }) => seen.push(`+${metadata.name}`),
      onDelete: ({ metadata }) => seen.push(`-${metadata.name}`),
      onAvailability: (missing) => {
        seen.push(missing ? 'missing' : 'available');
        if (!missing) queueMicrotask(back.resolve);
      },
    });
    informer.start();
    await back.promise;
    assert.deepEqual(seen, ['+old', '-old', 'missing', 'available', '+new']);
    assert.deepEqual(errors, []);
    await informer.stop();
  });

  // {"kind":"PartialObjectMetadataList",…,"items":null} is what a kube-apiserver answers
  it('takes a list without items for an empty one', async () => {
    const errors: unknown[] = [];
    const informer = new Informer(fromReflector({ client: clientOf([null], []), path: '/apis/x/v1/things', metadataOnly: true, onError: (error) => errors.push(error) }));
    informer.start();
    await informer.synced;
    assert.deepEqual([informer.list(), errors], [[], []]);
    await informer.stop();
  });
});

describe('Informer that learns of a write', () => {
  it('knows it before the watch does, and tells it once', () => {
    const { informer, handler, seen } = started();
    handler.replace([], '1');
    informer.learn(thing('a', '5'));
    assert.equal(informer.get('ns', 'a')?.metadata.resourceVersion, '5');
    handler.event('ADDED', thing('a', '5'));
    assert.deepEqual(seen(), ['+a']);
  });

  it('does not go back to what the watch still has to tell', () => {
    const { informer, handler, seen } = started();
    handler.replace([thing('a', '9')], '9');
    informer.learn(thing('a', '12', 'blue'));
    handler.event('MODIFIED', thing('a', '10', 'green'));
    handler.event('MODIFIED', thing('a', '12', 'blue'));
    informer.learn(thing('a', '11', 'green'));
    assert.deepEqual(seen(), ['+a', '~a 9→12']);
    assert.deepEqual(informer.byIndex('colour', 'blue').length, 1);
  });

  it('does not bring back what has ended, nor replaces its successor', () => {
    const { informer, handler, seen } = started();
    handler.replace([], '1');
    handler.event('ADDED', thing('a', '5'));
    handler.event('DELETED', thing('a', '6'));
    informer.learn(thing('a', '5'));
    assert.equal(informer.get('ns', 'a'), undefined);
    handler.event('ADDED', thing('a', '7', 'red', 'second'));
    informer.learn(thing('a', '8', 'red', 'first'));
    assert.equal(informer.get('ns', 'a')?.metadata.uid, 'second');
    seen();
  });
});
