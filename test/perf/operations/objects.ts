import type { KubeObject } from '../../../api/meta/v1/types.ts';
import type { Operation } from '../measurement.ts';
import { bodyOf, concurrently, createObject, deleteObject, keyOf, pathOf, succeed, type Key, type Subject } from '../subject.ts';

/** Reads and writes go round so many objects. */
const touched = 50;
/** They are all made beforehand. */
const mostDeletes = 400;
const changed = 'example.org/changed';

let serial = 0;
/** Of an object that never was. */
const newKey = (): Key & { index: number } => {
  serial += 1;
  return { ...keyOf(serial, 'new'), index: serial };
};

const get: Operation = {
  name: 'get',
  prepare: async (subject) => {
    let index = 0;
    return { attempt: async () => void (await succeed(subject.client, { path: pathOf(subject, keyOf(index++ % touched)) })) };
  },
};

const create: Operation = {
  name: 'create',
  prepare: async (subject) => {
    const made: Key[] = [];
    return {
      attempt: async () => {
        const key = newKey();
        await createObject(subject, key, key.index);
        made.push(key);
      },
      cleanUp: () => concurrently(made.length, (index) => deleteObject(subject, made[index]!)),
    };
  },
};

const update: Operation = {
  name: 'update',
  prepare: async (subject) => {
    const objects: KubeObject[] = [];
    await concurrently(touched, async (index) => {
      objects[index] = JSON.parse((await succeed(subject.client, { path: pathOf(subject, keyOf(index)) })).body.toString('utf8')) as KubeObject;
    });
    let count = 0;
    return {
      attempt: async () => {
        const at = count++ % touched;
        const object = objects[at]!;
        const body = { ...object, metadata: { ...object.metadata, annotations: { ...object.metadata.annotations, [changed]: String(serial++) } } };
        const answer = await succeed(subject.client, { method: 'PUT', path: pathOf(subject, keyOf(at)), body });
        objects[at] = JSON.parse(answer.body.toString('utf8')) as KubeObject;
      },
    };
  },
};

/** A write that the object's watchers get to see. */
export const touch = async (subject: Subject, key: Key): Promise<void> => {
  const body = { metadata: { annotations: { [changed]: String(serial++) } } };
  await succeed(subject.client, { method: 'PATCH', path: pathOf(subject, key), contentType: 'application/merge-patch+json', body });
};

const mergePatch: Operation = {
  name: 'patch (merge)',
  prepare: async (subject) => {
    let count = 0;
    return { attempt: () => touch(subject, keyOf(count++ % touched)) };
  },
};

const apply: Operation = {
  name: 'patch (apply)',
  prepare: async (subject) => {
    let count = 0;
    return {
      attempt: async () => {
        const at = count++ % touched;
        const whole = bodyOf(subject, keyOf(at), at);
        const body = { ...whole, metadata: { ...whole.metadata, annotations: { ...whole.metadata.annotations, [changed]: String(serial++) } } };
        const query = { fieldManager: 'bench-apply', force: true };
        await succeed(subject.client, { method: 'PATCH', path: pathOf(subject, keyOf(at)), contentType: 'application/apply-patch+yaml', query, body });
      },
    };
  },
};

const remove: Operation = {
  name: 'delete',
  prepare: async (subject, _objects, count) => {
    const keys: Key[] = [];
    await concurrently(Math.min(count, mostDeletes), async () => {
      const key = newKey();
      await createObject(subject, key, key.index);
      keys.push(key);
    });
    return {
      maxCount: keys.length,
      attempt: () => deleteObject(subject, keys.pop()!),
      cleanUp: () => concurrently(keys.length, () => deleteObject(subject, keys.pop()!)),
    };
  },
};

export const objectOperations: readonly Operation[] = [get, create, update, mergePatch, apply, remove];
