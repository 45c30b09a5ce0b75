import { describe, it } from 'mocha';
import assert from 'node:assert/strict';
import { bearerTokenAuthenticator, tokenReviewAuthenticator } from './bearer-token.ts';
import type { SubmitReview } from './review.ts';
import { websocketTokenAuthenticator, withoutToken } from './websocket-token.ts';

interface Review { spec: { token: string; audiences?: string[] } }
const reviewing = (answer: (review: Review) => object) => {
  const asked: Review[] = [];
  const submit = ((_path: string, review: Review) => {
    asked.push(review);
    return Promise.resolve({ ...review, status: answer(review) });
  }) as unknown as SubmitReview;
  return { asked, submit };
};
const known = { authenticated: true, user: { username: 'alice', uid: '1', groups: ['a,b'], extra: { scopes: ['x'] } } };
const alice = { username: 'alice', uid: '1', groups: ['a,b'], extra: { scopes: ['x'] } };

describe('tokenReviewAuthenticator', () => {
  it('asks once while an answer holds, good or bad', async () => {
    let time = 0;
    const { asked, submit } = reviewing(({ spec }) => (spec.token === 'good' ? known : { authenticated: false, error: 'no such token' }));
    const authenticate = tokenReviewAuthenticator({ submit, now: () => time });
    assert.deepEqual(await Promise.all([authenticate('good'), authenticate('good')]), [alice, alice]);
    await assert.rejects(authenticate('bad'), /no such token/);
    await assert.rejects(authenticate('bad'), /no such token/);
    time = 9_999;
    await authenticate('good');
    assert.equal(asked.length, 2);
    time = 10_001;
    await authenticate('good');
    await assert.rejects(authenticate('bad'), /no such token/);
    assert.equal(asked.length, 4);
  });

  it('does not keep a failure to ask', async () => {
    let down = true;
    const submit = (() => (down ? Promise.reject(new Error('down')) : Promise.resolve({ status: known }))) as SubmitReview;
    const authenticate = tokenReviewAuthenticator({ submit });
    await assert.rejects(authenticate('t'), /down/);
    down = false;
    assert.deepEqual(await authenticate('t'), alice);
  });

  for (const { name, audiences, status, passes } of [
    { name: 'a token for one of ours', audiences: ['a', 'b'], status: { ...known, audiences: ['b', 'c'] }, passes: true },
    { name: 'a token whose review names no audience', audiences: ['a'], status: known, passes: true },
    { name: 'a token for somebody else', audiences: ['a'], status: { ...known, audiences: ['c'] }, passes: false },
    { name: 'a review without a user', audiences: [], status: { authenticated: true, user: {} }, passes: false },
    { name: 'an empty status', audiences: [], status: {}, passes: false },
  ]) {
    it(`${passes ? 'accepts' : 'refuses'} ${name}`, async () => {
      const { asked, submit } = reviewing(() => status);
      const authenticate = tokenReviewAuthenticator({ submit, audiences });
      if (passes) assert.deepEqual(await authenticate('t'), alice);
      else await assert.rejects(authenticate('t'));
      assert.deepEqual(asked[0]?.spec.audiences, audiences.length > 0 ? audiences : undefined);
    });
  }

  it('keeps answers by a digest that differs from process to process', async () => {
    const { submit } = reviewing(() => known);
    const keys: string[][] = [];
    for (const run of [0, 1]) {
      const authenticate = tokenReviewAuthenticator({ submit, keyed: (key) => void (keys[run] ??= []).push(key) });
      await authenticate('s3cret');
      await authenticate('s3cret');
    }
    assert.equal(keys[0]![0], keys[0]![1]);
    assert.notEqual(keys[0]![0], keys[1]![0]);
    assert.ok(!keys.flat().some((key) => key.includes('s3cret')));
  });
});

describe('bearerTokenAuthenticator', () => {
  const { authenticate } = bearerTokenAuthenticator((token) => (token === 'good' ? Promise.resolve(alice) : Promise.reject(new Error(`not ${token}`))));
  const ask = (...rawHeaders: string[]) => authenticate({ rawHeaders, peerCertificates: () => [] });

  for (const header of ['Bearer good', 'bearer good', '  BEARER good and more ']) {
    it(`takes '${header}'`, async () => assert.deepEqual(await ask('authorization', header), alice));
  }
  for (const header of ['', 'Bearer', 'Basic good', 'Bearer  good', 'good']) {
    it(`finds nobody in '${header}'`, async () => assert.equal(await ask('Authorization', header), undefined));
  }
  it('refuses a bad token', () => assert.rejects(ask('Authorization', 'Bearer bad'), /not bad/));
  it('warns of a space before the token', async () => {
    const warnings: string[] = [];
    await authenticate({ rawHeaders: ['Authorization', 'Bearer  good'], peerCertificates: () => [], warn: (text) => warnings.push(text) });
    assert.equal(warnings.length, 1);
  });
});

describe('websocketTokenAuthenticator', () => {
  const { authenticate } = websocketTokenAuthenticator((token) => (token === 'gööd' ? Promise.resolve(alice) : Promise.reject(new Error('bad'))));
  const upgrade = ['Connection', 'keep-alive, Upgrade', 'Upgrade', 'websocket'];
  const offer = (token: string): string => `base64url.bearer.authorization.k8s.io.${Buffer.from(token).toString('base64url')}`;
  const ask = (...rawHeaders: string[]) => authenticate({ rawHeaders, peerCertificates: () => [] });

  it('takes a token among the subprotocols', async () => {
    assert.deepEqual(await ask(...upgrade, 'Sec-WebSocket-Protocol', `${offer('gööd')}, base64.binary.k8s.io`), alice);
    assert.deepEqual(await ask(...upgrade, 'Sec-WebSocket-Protocol', offer('gööd'), 'Sec-WebSocket-Protocol', 'a'), alice);
  });
  it('finds nobody without upgrade or token', async () => {
    assert.equal(await ask('Sec-WebSocket-Protocol', `${offer('gööd')}, a`), undefined);
    assert.equal(await ask(...upgrade, 'Sec-WebSocket-Protocol', 'a'), undefined);
  });
  for (const { name, protocols } of [
    { name: 'two tokens', protocols: `${offer('gööd')}, ${offer('gööd')}, a` },
    { name: 'nothing but a token', protocols: offer('gööd') },
    { name: 'padding', protocols: `${offer('gööd')}==, a` },
    { name: 'bytes that are no UTF-8', protocols: `base64url.bearer.authorization.k8s.io.${Buffer.from([0xff]).toString('base64url')}, a` },
  ]) {
    it(`refuses ${name}`, () => assert.rejects(ask(...upgrade, 'Sec-WebSocket-Protocol', protocols)));
  }
  it('hides the token', () => {
    assert.equal(withoutToken(['Sec-WebSocket-Protocol', `${offer('t')}, a`, 'sec-websocket-protocol', 'b']), 'a,b');
    assert.equal(withoutToken(['Sec-WebSocket-Protocol', 'a']), undefined);
  });
});
