import assert from 'node:assert/strict';
import { describe, it } from 'mocha';
import type { KubeObject } from '../../../api/meta/v1/types.ts';
import type { Certificate } from '../types.ts';
import { ownSubject, subjectOf } from './access.ts';
import { adopted } from './owner.ts';

const certificate: Certificate = { apiVersion: 'cert-manager.io/v1', kind: 'Certificate', metadata: { namespace: 'tenant-acme', name: 'www-tls', uid: 'cert' }, spec: { secretName: 'www-tls' } };
const secret = (metadata: object): KubeObject => ({ apiVersion: 'v1', kind: 'Secret', metadata: { annotations: { 'cert-manager.io/certificate-name': 'www-tls' }, ...metadata } });
const reference = (kind: string, name: string, uid: string) => ({ apiVersion: 'cert-manager.io/v1', kind, name, uid, controller: true });

describe('the owner of a Secret that cert-manager wrote', () => {
  const own = reference('Certificate', 'www-tls', 'cert');
  for (const { name, found, becomes } of [
    { name: 'is its Certificate', found: secret({}), becomes: [own] },
    { name: 'is its Certificate, in place of an earlier one of that name', found: secret({ ownerReferences: [reference('Certificate', 'www-tls', 'earlier')] }), becomes: [own] },
    { name: 'stays', found: secret({ ownerReferences: [own] }), becomes: undefined },
    { name: 'stays where it is somebody else', found: secret({ ownerReferences: [reference('Deployment', 'x', 'y')] }), becomes: undefined },
    { name: 'is nobody where cert-manager did not write it', found: secret({ annotations: {} }), becomes: undefined },
    { name: 'is nobody where cert-manager wrote it for another Certificate', found: secret({ annotations: { 'cert-manager.io/certificate-name': 'other-tls' } }), becomes: undefined },
  ])
    it(name, () => assert.deepEqual(adopted(found, certificate), becomes));
});

describe('whom the kube-apiserver takes us for', () => {
  it('is a ServiceAccount', () => assert.deepEqual(subjectOf('system:serviceaccount:cozy-system:tenant-apiserver'), { kind: 'ServiceAccount', name: 'tenant-apiserver', namespace: 'cozy-system' }));
  it('is a user', () => assert.deepEqual(subjectOf('loop'), { kind: 'User', name: 'loop', apiGroup: 'rbac.authorization.k8s.io' }));
  it('is asked once, and again where that failed', async () => {
    const answers = [new Error('no'), 'loop', 'somebody else'];
    const json = <T>(): Promise<T> => {
      const username = answers.shift();
      return username instanceof Error ? Promise.reject(username) : Promise.resolve({ status: { userInfo: { username } } } as T);
    };
    const subject = ownSubject({ json });
    await assert.rejects(subject(), /no/);
    assert.deepEqual([await subject(), await subject()], [subjectOf('loop'), subjectOf('loop')]);
  });
});
