import assert from 'node:assert/strict';
import { describe, it } from 'mocha';
import type { KubeObject } from '../../api/meta/v1/types.ts';
import { StatusError } from '../kube/status-error.ts';
import { tenantStrategy } from '../registry/tenant/strategy.ts';
import type { AdmissionAttributes } from './chain.ts';
import { fieldGate } from './field-gate.ts';
import { strategyAdmission } from './strategy.ts';

const finalizer = 'tenant.cozystack.io/cleanup';
const ended = { deletionTimestamp: '2026-12-01T00:00:00Z' };
const tenant = (metadata: object, rest: object = {}): KubeObject => ({ apiVersion: 'apps.cozystack.io/v1alpha1', kind: 'Tenant', metadata: { namespace: 'tenant-root', name: 'acme', ...metadata }, ...rest });
const attributes = (object: KubeObject, oldObject: KubeObject | undefined, rest: Partial<AdmissionAttributes> = {}): AdmissionAttributes => ({
  operation: oldObject ? 'UPDATE' : 'CREATE',
  kind: { group: 'apps.cozystack.io', version: 'v1alpha1', kind: 'Tenant' },
  resource: 'tenants',
  subresource: '',
  namespace: 'tenant-root',
  name: 'acme',
  object,
  ...(oldObject && { oldObject }),
  user: { username: 'olga', uid: '', groups: ['tenant-root-super-admin'], extra: {} },
  dryRun: false,
  undo: [],
  done: [],
  warn: () => undefined,
  annotate: () => undefined,
  ...rest,
});

describe('the finalizer of a kind', () => {
  const admission = strategyAdmission(() => tenantStrategy);
  for (const { name, object, old, stays, warns = false } of [
    { name: 'is there from the start', object: tenant({}), old: undefined, stays: true },
    { name: 'is not dropped by an update', object: tenant({}), old: tenant({ finalizers: [finalizer] }), stays: true },
    { name: 'is not dropped by whoever wants an end sooner, who is told', object: tenant({ ...ended, finalizers: ['theirs'] }), old: tenant({ ...ended, finalizers: ['theirs', finalizer] }), stays: true, warns: true },
    { name: 'is not given to what ends without it', object: tenant(ended), old: tenant({ ...ended, finalizers: ['theirs'] }), stays: false },
  ])
    it(name, () => {
      const warnings: string[] = [];
      const judged = attributes(object, old, { warn: (text) => void warnings.push(text) });
      void admission.admit!(judged);
      assert.equal(judged.object!.metadata.finalizers?.includes(finalizer) ?? false, stays);
      assert.equal(warnings.length, warns ? 1 : 0);
    });
});

describe('the gate', () => {
  const gate = fieldGate(() => tenantStrategy, ['admins']);
  const said = { status: { host: 'evil.example.org' } };
  for (const { name, object, subresource = '', groups = [], passes } of [
    { name: 'keeps a host from who is not trusted', object: tenant({}, { spec: { host: 'a.test' } }), passes: false },
    { name: 'lets who is trusted set it', object: tenant({}, { spec: { host: 'a.test' } }), groups: ['admins'], passes: true },
    { name: 'keeps the status from who is not trusted', object: tenant({}, said), subresource: 'status', passes: false },
    { name: 'lets who is trusted set it, too', object: tenant({}, said), subresource: 'status', groups: ['admins'], passes: true },
    { name: 'lets a status pass that goes nowhere', object: tenant({}, said), passes: true },
    { name: 'lets a host pass that goes nowhere', object: tenant({}, { spec: { host: 'a.test' } }), subresource: 'status', passes: true },
  ])
    it(name, () => {
      const judge = (): unknown => gate.validate!(attributes(object, tenant({}), { subresource, user: { username: 'olga', uid: '', groups, extra: {} } }));
      if (passes) judge();
      else assert.throws(judge, (error: unknown) => error instanceof StatusError && error.code === 403);
    });
});
