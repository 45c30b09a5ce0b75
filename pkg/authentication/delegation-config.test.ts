import { describe, it } from 'mocha';
import assert from 'node:assert/strict';
import type { KubeObject } from '../../api/meta/v1/types.ts';
import type { ReflectorHandler } from '../kube/reflector.ts';
import { StatusError } from '../kube/status-error.ts';
import { makeAuthority } from './certificate-fixtures.ts';
import { DelegationConfigWatcher, parseDelegationConfig } from './delegation-config.ts';

const one = makeAuthority({ commonName: 'one' });
const two = makeAuthority({ commonName: 'two' });
const requestHeader = {
  'requestheader-client-ca-file': one.certPem,
  'requestheader-allowed-names': '["front"]',
  'requestheader-username-headers': '["X-Remote-User"]',
  'requestheader-uid-headers': '["X-Remote-Uid"]',
  'requestheader-group-headers': '["X-Remote-Group"]',
  'requestheader-extra-headers-prefix': '["X-Remote-Extra-",""]',
};
const whole = { ...requestHeader, 'client-ca-file': one.certPem + two.certPem };

describe('parseDelegationConfig', () => {
  it('reads both parts', () => {
    const { config, faults } = parseDelegationConfig(whole);
    assert.deepEqual(faults, []);
    const { roots, ...rest } = config.requestHeader!;
    assert.deepEqual(roots.map(({ subject }) => subject), ['CN=one']);
    assert.deepEqual(rest, {
      allowedNames: ['front'],
      usernameHeaders: ['X-Remote-User'],
      uidHeaders: ['X-Remote-Uid'],
      groupHeaders: ['X-Remote-Group'],
      extraHeaderPrefixes: ['X-Remote-Extra-'],
    });
    assert.deepEqual(config.clientCertificate!.roots.map(({ subject }) => subject), ['CN=one', 'CN=two']);
  });

  it('serves what there is', () => {
    assert.ok(parseDelegationConfig(requestHeader).config.requestHeader);
    assert.equal(parseDelegationConfig(requestHeader).config.clientCertificate, undefined);
    assert.ok(parseDelegationConfig({ 'client-ca-file': one.certPem }).config.clientCertificate);
    assert.equal(parseDelegationConfig({ 'client-ca-file': one.certPem }).config.requestHeader, undefined);
    assert.deepEqual(parseDelegationConfig({ 'requestheader-client-ca-file': one.certPem }).config.requestHeader?.usernameHeaders, []);
  });

  it('keeps a part that did not change as the same object, so that nothing is verified again', () => {
    const { config } = parseDelegationConfig(whole);
    const again = parseDelegationConfig({ ...whole, 'requestheader-allowed-names': '[]' }, config).config;
    assert.equal(again.clientCertificate, config.clientCertificate);
    assert.notEqual(again.requestHeader, config.requestHeader);
    assert.equal(parseDelegationConfig({ ...whole, 'client-ca-file': two.certPem }, config).config.requestHeader, config.requestHeader);
  });

  for (const [name, broken] of [
    ['a broken bundle', { ...whole, 'requestheader-client-ca-file': 'x' }],
    ['a list that is none', { ...whole, 'requestheader-allowed-names': '"front"' }],
    ['a list that is no JSON', { ...whole, 'requestheader-group-headers': '[' }],
  ] as const) {
    it(`keeps the last good part at ${name}, and says so`, () => {
      const { config } = parseDelegationConfig(whole);
      const { config: next, faults } = parseDelegationConfig({ ...broken, 'client-ca-file': two.certPem }, config);
      assert.equal(next.requestHeader, config.requestHeader);
      assert.equal(next.clientCertificate?.roots.length, 1);
      assert.equal(faults.length, 1);
    });
  }

  it('trusts nobody any more by a part that was taken out', () => {
    const { config } = parseDelegationConfig(whole);
    assert.deepEqual(parseDelegationConfig({}, config).config, { requestHeader: undefined, clientCertificate: undefined });
  });
});

describe('DelegationConfigWatcher', () => {
  const object = (data: Record<string, string>): KubeObject => ({
    apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'extension-apiserver-authentication', namespace: 'kube-system' }, data,
  });
  const watched = () => {
    const faults: string[] = [];
    let handler: ReflectorHandler | undefined;
    let fail: ((error: unknown) => void) | undefined;
    const watcher = new DelegationConfigWatcher(
      (given, onError) => {
        handler = given as ReflectorHandler;
        fail = onError;
        return { start: () => undefined, stop: () => Promise.resolve() };
      },
      (fault) => faults.push(fault),
    );
    return { watcher, faults, handler: handler!, fail: fail! };
  };

  it('becomes ready with the ConfigMap, and follows it', () => {
    const { watcher, handler, faults } = watched();
    assert.match(watcher.ready()!, /has not been read yet/);
    handler.replace([object(whole)], '1');
    assert.equal(watcher.ready(), undefined);
    handler.event('MODIFIED', object({ ...whole, 'requestheader-client-ca-file': two.certPem }));
    assert.equal(watcher.current.requestHeader?.roots[0]?.subject, 'CN=two');
    handler.event('MODIFIED', { ...object({}), metadata: { name: 'another' } });
    assert.ok(watcher.current.requestHeader);
    assert.deepEqual(faults, []);
  });

  it('says why it is not ready', () => {
    const { watcher, handler, fail, faults } = watched();
    fail(new StatusError(403, 'Forbidden', 'configmaps is forbidden'));
    assert.match(watcher.ready()!, /cannot be read: configmaps is forbidden; bind the role extension-apiserver-authentication-reader/);
    handler.replace([], '1');
    assert.match(watcher.ready()!, /does not exist/);
    handler.event('ADDED', object({}));
    assert.match(watcher.ready()!, /holds neither/);
    handler.event('MODIFIED', object({ 'client-ca-file': 'x' }));
    assert.match(watcher.ready()!, /client-ca-file: data does not contain/);
    assert.equal(faults.length, 3);
  });

  it('stays ready, with what it has, when the ConfigMap or the kube-apiserver goes away', () => {
    const { watcher, handler, fail } = watched();
    handler.replace([object(whole)], '1');
    handler.event('DELETED', object(whole));
    fail(StatusError.unavailable('gone'));
    assert.equal(watcher.ready(), undefined);
    assert.ok(watcher.current.requestHeader);
  });
});
