import assert from 'node:assert/strict';
import { describe, it } from 'mocha';
import type { KubeObject } from '../../../api/meta/v1/types.ts';
import { tenantStrategy } from './strategy.ts';

const tenant = (spec: object): KubeObject => ({ apiVersion: 'apps.cozystack.io/v1alpha1', kind: 'Tenant', metadata: { name: 'acme', namespace: 'tenant-root' }, spec });
const long = `${'a'.repeat(60)}.org`;

const manyKeys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`count/r${index}.example.org`, 1]));

describe('Tenant strategy', () => {
  for (const { name, namespace = 'tenant-root', tenant: called, fault } of [
    { name: 'letters and digits pass', tenant: 'acme2', fault: undefined },
    { name: 'a dash would make the namespace ambiguous', tenant: 'a-b', fault: /tenant names must/ },
    { name: 'a digit first is no namespace of its own', tenant: '2a', fault: /tenant names must/ },
    { name: 'upper case is none', tenant: 'Acme', fault: /tenant names must/ },
    { name: '46 characters pass', tenant: 'a'.repeat(46), fault: undefined },
    { name: '47 characters are too many for a release', tenant: 'a'.repeat(47), fault: /no more than 46/ },
    { name: 'a namespace of 64 characters is told by name', namespace: `tenant-${'b'.repeat(46)}`, tenant: 'c'.repeat(10), fault: /"tenant-b+-c+", which has 64 characters/ },
    { name: 'a tenant whose admins would be the super-admins above is told by group', namespace: 'tenant-acme', tenant: 'super', fault: /"tenant-acme-super-admin" would be this tenant's and that of "tenant-acme" above it/ },
    { name: 'a namespace called like a group above is told by name', namespace: 'tenant-acme', tenant: 'admin', fault: /"tenant-acme-admin"/ },
    { name: 'below root it is none', tenant: 'super', fault: undefined },
  ]) {
    it(name, () => {
      const [cause] = tenantStrategy.validateName(namespace, called);
      if (fault) assert.match(cause!.message, fault);
      else assert.equal(cause, undefined);
    });
  }

  for (const { name, spec, old, faultAt } of [
    { name: 'a host passes', spec: { host: 'example.org' }, faultAt: undefined },
    { name: 'a host must fit into a label', spec: { host: long }, faultAt: 'spec.host' },
    { name: 'what was too long before may stay', spec: { host: long }, old: { host: long }, faultAt: undefined },
    { name: 'a wildcard is no host', spec: { host: '*.example.org' }, faultAt: 'spec.host' },
    { name: 'upper case is no host', spec: { host: 'Example.org' }, faultAt: 'spec.host' },
    { name: 'a trailing dot is no host', spec: { host: 'example.org.' }, faultAt: 'spec.host' },
    { name: 'a scheduling class passes', spec: { schedulingClass: 'fast_1' }, faultAt: undefined },
    { name: 'a scheduling class must be a label value', spec: { schedulingClass: 'ü ü' }, faultAt: 'spec.schedulingClass' },
    { name: 'a scheduling class must fit into a label', spec: { schedulingClass: 'x'.repeat(1_400_000) }, faultAt: 'spec.schedulingClass' },
    { name: 'another type is for the schema to refuse', spec: { host: 5 }, faultAt: undefined },
    { name: 'quantities pass', spec: { resourceQuotas: { cpu: 4, memory: '8Gi', 'count/pods': '0', 'nvidia.com/gpu': 1 } }, faultAt: undefined },
    { name: 'less than nothing is no quota', spec: { resourceQuotas: { cpu: '-1000' } }, faultAt: 'spec.resourceQuotas[cpu]' },
    { name: 'what the schema takes for a quantity and is none is no quota', spec: { resourceQuotas: { cpu: '1e1.5' } }, faultAt: 'spec.resourceQuotas[cpu]' },
    { name: 'a key that no ResourceQuota takes bounds nothing', spec: { resourceQuotas: { 'no such': 1 } }, faultAt: 'spec.resourceQuotas[no such]' },
    { name: 'a quota that was no better before may stay', spec: { resourceQuotas: { fish: 2, cpu: -1 } }, old: { resourceQuotas: { fish: 1, cpu: -1 } }, faultAt: undefined },
    { name: 'as many keys as anybody needs pass', spec: { resourceQuotas: manyKeys(64) }, faultAt: undefined },
    { name: 'more keys are too many', spec: { resourceQuotas: manyKeys(65) }, faultAt: 'spec.resourceQuotas' },
    { name: 'too many keys of before may become fewer', spec: { resourceQuotas: manyKeys(20_000) }, old: { resourceQuotas: manyKeys(20_001) }, faultAt: undefined },
    { name: 'half an object is no quota', spec: { resourceQuotas: { pods: '0.5' } }, faultAt: 'spec.resourceQuotas[pods]' },
    { name: 'nor is half an object of any resource', spec: { resourceQuotas: { 'count/deployments.apps': '1500m' } }, faultAt: 'spec.resourceQuotas[count/deployments.apps]' },
    { name: 'nor half a device', spec: { resourceQuotas: { 'nvidia.com/gpu': '500m' } }, faultAt: 'spec.resourceQuotas[nvidia.com/gpu]' },
    { name: 'storage and CPU need not be whole', spec: { resourceQuotas: { cpu: '0.5', storage: '0.5', 'fast.storageclass.storage.k8s.io/requests.storage': '0.5' } }, faultAt: undefined },
    { name: 'quotas of another type are for the schema to refuse', spec: { resourceQuotas: { cpu: { nested: 1 } } }, faultAt: undefined },
    { name: 'a quota of megabytes is not repeated', spec: { resourceQuotas: { cpu: '9'.repeat(1_000_000) } }, faultAt: 'spec.resourceQuotas[cpu]' },
    { name: 'what does not look like a quantity is for the schema to refuse', spec: { resourceQuotas: { cpu: 'much' } }, faultAt: undefined },
  ]) {
    it(name, () => {
      const causes = tenantStrategy.validate(tenant(spec), old && tenant(old));
      assert.equal(causes[0]?.field, faultAt);
      assert.ok((causes[0]?.message.length ?? 0) < 400, 'the message does not repeat megabytes');
    });
  }
});
