import assert from 'node:assert/strict';
import { describe, it } from 'mocha';
import { parse } from 'yaml';
import type { KubeObject } from '../../api/meta/v1/types.ts';
import { nothing } from './inheritance.ts';
import type { PartContext } from './part.ts';
import { handedDownBy, valuesParts, type HandedDown } from './values.ts';

const namespace = (name: string): KubeObject => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, uid: `ns-${name}` } });
const context: PartContext = {
  tenant: { apiVersion: 'apps.cozystack.io/v1alpha1', kind: 'Tenant', metadata: { namespace: 'tenant-root', name: 'a', uid: 'a' } },
  namespace: namespace('tenant-a'),
  ancestors: ['tenant-root'],
  inherited: { ...nothing, host: 'a.example.org', etcd: 'tenant-root', schedulingClass: 'fast' },
};
const textOf = (handedDown: HandedDown): string => Buffer.from((valuesParts(context, handedDown)[0]!.desired['data'] as Record<string, string>)['values.yaml']!, 'base64').toString();
const secret = (text: string, place = 'tenant-root', owner?: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'cozystack-values', namespace: place, ...(owner && { ownerReferences: [{ apiVersion: 'v1', kind: 'Namespace', name: place, uid: owner, controller: true }] }) },
  data: { 'values.yaml': Buffer.from(text).toString('base64') },
});

describe('values for charts', () => {
  it('are those of the cluster and those of the tenant', () =>
    assert.deepEqual(parse(textOf({ values: { 'root-host': 'example.org', 'oidc-enabled': 'true' } })), {
      _cluster: { 'root-host': 'example.org', 'oidc-enabled': 'true' },
      _namespace: { etcd: 'tenant-root', ingress: '', gateway: '', monitoring: '', seaweedfs: '', host: 'a.example.org', schedulingClass: 'fast' },
    }));

  it('come down as they were: texts stay texts, and large numbers whole', () => {
    const given = '_cluster:\n  flag: "true"\n  ratio: "10"\n  large: 12345678901234567890\n  branding:\n    title: x\n';
    const handed = handedDownBy(secret(given), namespace('tenant-root'));
    assert.match(textOf(handed), /flag: "true"\n {2}ratio: "10"\n {2}large: 12345678901234567890\n {2}branding:\n {4}title: x\n/);
  });

  it('do not change on the way down a tree', () => {
    const first = textOf(handedDownBy(secret('_cluster: { a: "1", b: [x, 2.5, null] }'), namespace('tenant-root')));
    const second = textOf(handedDownBy(secret(first, 'tenant-a', 'ns-tenant-a'), namespace('tenant-a')));
    assert.equal(second, first);
  });

  for (const { what, of, from = 'tenant-root' } of [
    { what: 'no YAML', of: secret('a: [') },
    { what: 'no map', of: secret('_cluster: text') },
    { what: 'none', of: secret('') },
    { what: 'another key', of: { ...secret(''), data: {} } },
    { what: 'a Secret that somebody put below root', of: secret('_cluster: {}', 'tenant-a'), from: 'tenant-a' },
  ]) {
    it(`are not taken from ${what}, and the fault does not repeat it`, () => {
      const handed = handedDownBy(of, namespace(from));
      assert.ok('fault' in handed);
      assert.match(handed.fault, new RegExp(`^Secret ${from}/cozystack-values (has no map _cluster in its key values.yaml|was not made by the loop)$`));
      assert.deepEqual(valuesParts(context, handed), []);
    });
  }
});
