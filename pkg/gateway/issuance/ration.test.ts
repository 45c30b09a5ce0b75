import assert from 'node:assert/strict';
import { describe, it } from 'mocha';
import type { KubeObject } from '../../../api/meta/v1/types.ts';
import type { Action } from '../plan.ts';
import type { Certificate } from '../types.ts';
import { isTakenOver, orderOf, rationed, withoutMoves } from './ration.ts';

const server = 'https://acme.example.net/directory';
const certificate = (hosts: string[], issuer?: string): Certificate => ({
  apiVersion: 'cert-manager.io/v1',
  kind: 'Certificate',
  metadata: { namespace: 'n', name: 'c', ...(issuer && { labels: { 'gateway.cozystack.io/issuer': issuer } }) },
  spec: { secretName: 'c', dnsNames: hosts },
});
const change = (desired: Certificate, live?: Certificate): Action => ({ do: 'apply', what: 'certificate', desired, live });

describe('what is an order at an ACME server', () => {
  const same = certificate(['a.test', 'b.test'], 'prod');
  for (const { name, action, orders, renews = false } of [
    { name: 'a Certificate that is new', action: change(same), orders: true },
    { name: 'one that stays', action: change(same, same), orders: false },
    { name: 'one whose names come in another order', action: change(same, certificate(['B.test', 'a.test'], 'prod')), orders: false },
    { name: 'one for more names, which cert-manager sees by itself', action: change(same, certificate(['a.test'], 'prod')), orders: true },
    { name: 'one of another issuer, which cert-manager has to be told', action: change(same, certificate(['a.test', 'b.test'], 'stage')), orders: true, renews: true },
    { name: 'one of another issuer for other names', action: change(same, certificate(['a.test'], 'stage')), orders: true },
    { name: 'one of an issuer that was not noted', action: change(same, certificate(['a.test', 'b.test'])), orders: false },
    { name: 'an Issuer', action: { do: 'apply', what: 'issuer', desired: same, live: undefined }, orders: false },
    { name: 'a deletion', action: { do: 'delete', what: 'certificate', object: same }, orders: false },
  ] as { name: string; action: Action; orders: boolean; renews?: boolean }[])
    it(`${name}: ${orders ? 'yes' : 'no'}`, () => {
      assert.equal(orderOf(action, 'n/gw', 0) !== undefined, orders);
      assert.equal(rationed([action], []).renewals.length, renews ? 1 : 0);
    });
});

describe('an Issuer whose ACME server changed', () => {
  const issuer = (observedGeneration: number, status = 'True', spec: object = { acme: { server } }): KubeObject => ({
    apiVersion: 'cert-manager.io/v1',
    kind: 'Issuer',
    metadata: { name: 'i', generation: 2 },
    spec,
    status: { conditions: [{ type: 'Ready', status, observedGeneration }] },
  });
  for (const { name, found, taken } of [
    { name: 'is taken over once cert-manager says so of this very spec', found: issuer(2), taken: true },
    { name: 'is not while cert-manager speaks of an earlier one', found: issuer(1), taken: false },
    { name: 'is not while its account is not registered', found: issuer(2, 'False'), taken: false },
    { name: 'is not before it was written', found: issuer(2, 'True', { acme: { server: 'https://other' } }), taken: false },
    { name: 'is not while there is none', found: undefined, taken: false },
  ])
    it(name, () => assert.equal(isTakenOver(found, server), taken));

  it('has no Certificate issued anew before that', () => {
    const [moved, other] = [change(certificate(['a.test'], 'prod'), certificate(['a.test'], 'stage')), change(certificate(['b.test'], 'prod'))];
    assert.deepEqual(withoutMoves([moved, other]), [other]);
  });
});
