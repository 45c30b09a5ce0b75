import assert from 'node:assert/strict';
import { describe, it } from 'mocha';
import { hostFault, inheritAlong, nothing, type Node } from './inheritance.ts';

const root: Node = { name: 'root', namespace: 'tenant-root', spec: { host: 'example.org' } };
const acme = (spec: Node['spec'] = {}): Node => ({ name: 'acme', namespace: 'tenant-acme', spec });
const dev = (spec: Node['spec'] = {}): Node => ({ name: 'dev', namespace: 'tenant-acme-dev', spec });

describe('inheritance', () => {
  for (const { name, chain, has } of [
    { name: 'nothing above gives nothing', chain: [acme()], has: {} },
    { name: 'a host is derived level by level', chain: [root, acme(), dev()], has: { host: 'dev.acme.example.org' } },
    { name: 'an own host wins and is handed down', chain: [root, acme({ host: 'ACME.test.' }), dev()], has: { host: 'dev.acme.test' } },
    { name: 'the nearest owner of a gateway wins', chain: [{ ...root, spec: { host: 'example.org', gateway: true } }, acme({ gateway: true }), dev()], has: { host: 'dev.acme.example.org', gateway: 'tenant-acme' } },
    { name: 'false inherits like an absent flag', chain: [{ ...root, spec: { gateway: true } }, acme({ gateway: false })], has: { gateway: 'tenant-root' } },
    { name: 'modules name the namespace of their owner', chain: [{ ...root, spec: { etcd: true, ingress: true } }, acme({ monitoring: true, seaweedfs: true }), dev({ etcd: true })], has: { etcd: 'tenant-acme-dev', ingress: 'tenant-root', monitoring: 'tenant-acme', seaweedfs: 'tenant-acme' } },
    { name: 'a scheduling class from above wins', chain: [acme({ schedulingClass: 'above' }), dev({ schedulingClass: 'below' })], has: { schedulingClass: 'above' } },
    { name: 'a budget above bounds those below', chain: [{ ...root, spec: { resourceQuotas: { cpu: 1 } } }, acme(), dev()], has: { bounded: true } },
    { name: 'a host that cannot be served is none, and none below it', chain: [acme({ host: '*.acme.test' }), dev()], has: {} },
  ] as { name: string; chain: Node[]; has: object }[])
    it(name, () => assert.deepEqual(inheritAlong(chain), { ...nothing, ...has }));

  it('says what is wrong with a host where it is wrong', () => assert.match(inheritAlong([acme({ host: '*.acme.test' })]).hostFault, /no DNS name/));

  for (const { host, faulty } of [
    { host: '', faulty: false },
    { host: 'example.org', faulty: false },
    { host: 'a-1.example.org', faulty: false },
    { host: `${'a'.repeat(60)}.org`, faulty: true },
    { host: '*.example.org', faulty: true },
    { host: 'exa mple.org', faulty: true },
    { host: '-a.example.org', faulty: true },
    { host: 'a..org', faulty: true },
  ]) it(`${faulty ? 'refuses' : 'takes'} host "${host}"`, () => assert.equal(hostFault(host) !== undefined, faulty));
});
