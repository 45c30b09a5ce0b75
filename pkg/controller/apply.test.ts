import assert from 'node:assert/strict';
import { describe, it } from 'mocha';
import type { KubeObject } from '../../api/meta/v1/types.ts';
import { StatusError } from '../kube/status-error.ts';
import { applyObject, applyStatus, collectionPath, deleteObject, isManaged, type Target } from './apply.ts';
import { toConditions } from './conditions.ts';
import { toEvent } from './events.ts';

const things = { group: 'x.test', resource: 'things' };
const thing = (change: object = {}, metadata: object = {}): KubeObject => ({ apiVersion: 'x.test/v1', kind: 'Thing', metadata: { namespace: 'ns', name: 'a', labels: { 'app.kubernetes.io/managed-by': 'tenant-apiserver' }, ...metadata }, ...change });
const live = (metadata: object = {}): KubeObject =>
  thing(
    { spec: { size: 1 } },
    {
      uid: 'u1',
      managedFields: [
        { manager: 'tenant-apiserver', operation: 'Apply', apiVersion: 'x.test/v1', fieldsV1: { 'f:metadata': { 'f:labels': { 'f:app.kubernetes.io/managed-by': {} } }, 'f:spec': { 'f:size': {} } } },
        { manager: 'tenant-apiserver', operation: 'Apply', apiVersion: 'x.test/v1', subresource: 'status', fieldsV1: { 'f:status': { 'f:seen': {} } } },
      ],
      ...metadata,
    },
  );

/** Holds one object, or none, and notes what is asked of it. */
const targetWith = (existing?: KubeObject) => {
  const asked: string[] = [];
  const target: Target = {
    get: async () => {
      asked.push('get');
      return existing ?? Promise.reject(StatusError.notFound(things, 'a'));
    },
    apply: async (object, subresource = '' as never) => {
      asked.push(`apply ${subresource}uid=${object.metadata.uid ?? ''} version=${object.metadata.resourceVersion ?? ''}`);
      if (existing && object.metadata.resourceVersion) throw StatusError.conflict(things, 'a', 'changed');
      return object;
    },
    delete: async (_namespace, _name, uid) => {
      asked.push(`delete ${uid}`);
      throw StatusError.notFound(things, 'a');
    },
  };
  return { target, asked };
};
const desired = (size: number): KubeObject => thing({ spec: { size } });

describe('applyObject', () => {
  for (const { name, existing, cached, size = 2, result, asks } of [
    { name: 'creates what is not there, in a way that cannot touch what is', result: 'written', asks: ['apply uid= version=1'] },
    { name: 'leaves alone what is as desired', existing: live(), cached: live(), size: 1, result: 'unchanged', asks: [] },
    { name: 'changes this very object', existing: live(), cached: live(), result: 'written', asks: ['apply uid=u1 version='] },
    { name: 'does not touch what others made', existing: live({ labels: {} }), cached: live({ labels: {} }), result: 'refused', asks: [] },
    { name: 'nor what the cache does not know yet', existing: live({ labels: {} }), result: 'refused', asks: ['apply uid= version=1', 'get'] },
    { name: 'changes ours when the cache is late', existing: live(), result: 'written', asks: ['apply uid= version=1', 'get', 'apply uid=u1 version='] },
  ] as { name: string; existing?: KubeObject; cached?: KubeObject; size?: number; result: string; asks: string[] }[])
    it(name, async () => {
      const { target, asked } = targetWith(existing);
      const outcome = await applyObject(target, desired(size), cached, isManaged);
      assert.equal(outcome.result, result);
      assert.deepEqual(asked, asks);
      if (outcome.result === 'refused') assert.match(outcome.message, /^Thing ns\/a exists and was not made by/);
    });
});

describe('applyStatus', () => {
  it('writes only what differs', async () => {
    const { target, asked } = targetWith();
    const found = { ...live(), status: { seen: 1 } };
    assert.equal(await applyStatus(target, found, { seen: 1 }), false);
    assert.equal(await applyStatus(target, found, { seen: 2 }), true);
    assert.deepEqual(asked, ['apply statusuid=u1 version=']);
  });
});

describe('deleteObject', () => {
  it('asks for this very object, and does not mind that it is gone', async () => {
    const { target, asked } = targetWith();
    await deleteObject(target, live());
    assert.deepEqual(asked, ['delete u1']);
  });
});

describe('collectionPath', () => {
  for (const [resource, namespace, path] of [
    [{ apiVersion: 'v1', kind: 'Namespace', plural: 'namespaces' }, undefined, '/api/v1/namespaces'],
    [{ apiVersion: 'cert-manager.io/v1', kind: 'Issuer', plural: 'issuers' }, 'ns', '/apis/cert-manager.io/v1/namespaces/ns/issuers'],
  ] as const)
    it(path, () => assert.equal(collectionPath(resource, namespace), path));
});

describe('toConditions', () => {
  const before = [{ type: 'Ready', status: 'False' as const, reason: 'Old', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' }];
  const at = (status: 'True' | 'False') => toConditions([{ type: 'Ready', status, reason: 'New', message: 'm' }], before, 4, Date.UTC(2026, 1, 1))[0]!;
  it('keeps the time while the status stays', () => assert.deepEqual([at('False').lastTransitionTime, at('False').reason], ['2026-01-01T00:00:00Z', 'New']));
  it('takes the time of a turn', () => assert.deepEqual([at('True').lastTransitionTime, at('True').observedGeneration], ['2026-02-01T00:00:00Z', 4]));
});

describe('toEvent', () => {
  it('fits what the kube-apiserver takes', () => {
    const event = toEvent(thing({}, { name: 'a'.repeat(253) }), { type: 'Warning', reason: 'R', action: 'Reconcile', note: 'x'.repeat(3000) }, 'me', Date.UTC(2026, 1, 1));
    assert.equal(event.metadata.name!.length, 253);
    assert.equal((event['note'] as string).length, 1024);
    assert.equal(event['eventTime'], '2026-02-01T00:00:00.000000Z');
  });
});
