import assert from 'node:assert/strict';
import { once } from 'node:events';
import http2, { constants, type ClientHttp2Session } from 'node:http2';
import net from 'node:net';
import tls, { type TLSSocket } from 'node:tls';
import { Router } from 'express';
import { after, afterEach, before, beforeEach, describe, it } from 'mocha';
import { eventually } from '../../test/poll.ts';
import { makeAuthority, makeCertificate, makeClient, serverAuth } from '../authentication/certificate-fixtures.ts';
import type { ConnectionTimes } from './connection-limits.ts';
import type { Ending } from './connections.ts';
import { createApps } from './express-apps.ts';
import { endStream, frame, frameType, headerBlock, headersFrames, RawPeer, uint32 } from './http2-frames-fixture.ts';
import { Listener } from './listener.ts';

const authority = makeAuthority();
const serving = makeCertificate({ commonName: 'localhost', issuer: authority, usages: [serverAuth] });
const front = makeClient(authority, { commonName: 'front' });
const pseudo = (path: string, method = 'GET') => [[':method', method], [':path', path], [':scheme', 'https'], [':authority', 'localhost']] as const;
const get = headerBlock(...pseudo('/'));

describe('Listener', () => {
  let listener: Listener;
  /** Gives connections little time. */
  let impatient: Listener;
  let patientPort = 0;
  let impatientPort = 0;
  let port = 0;
  let served = 0;
  let frontIsKnown = true;
  /** Whether tokens can be judged. */
  let reviews = true;
  const endings: Ending[] = [];
  const connections: { destroy: () => void }[] = [];
  const kept = <T extends { destroy: () => void }>(connection: T): T => {
    connections.push(connection);
    return connection;
  };
  const options = (certificate?: typeof front) => ({ port, host: '127.0.0.1', rejectUnauthorized: false, ...(certificate && { cert: certificate.certPem, key: certificate.keyPem }) });
  const rawPeer = async (): Promise<RawPeer> => {
    const peer = await RawPeer.connect(options());
    kept(peer.socket);
    return peer;
  };
  const http1 = async (): Promise<TLSSocket> => {
    const socket = kept(tls.connect({ ...options(), ALPNProtocols: ['http/1.1'] }));
    socket.on('error', () => undefined);
    await once(socket, 'secureConnect');
    return socket;
  };
  const session = async (certificate?: typeof front): Promise<ClientHttp2Session> => {
    const client = kept(http2.connect(`https://127.0.0.1:${port}`, { ...options(certificate), maxSendHeaderBlockLength: 1 << 20 }));
    client.on('error', () => undefined);
    await once(client, 'remoteSettings');
    return client;
  };
  const ask = async (client: ClientHttp2Session, headers: Record<string, string> = {}): Promise<number | undefined> => {
    const stream = client.request({ ':path': '/', ...headers });
    stream.resume();
    const answered = Promise.race([once(stream, 'response').then(([answer]) => (answer as { ':status': number })[':status']), once(stream, 'close').then(() => undefined)]);
    return answered.catch(() => undefined);
  };

  before(async () => {
    const router = Router();
    router.use((request, response) => {
      served += 1;
      if (request.url.includes('large')) response.end(Buffer.alloc(4 << 20));
      else if (!request.url.includes('hold')) response.end('{}');
    });
    const isFrontProxy = (peer: readonly { subject: string }[]): boolean => frontIsKnown && peer[0]?.subject === 'CN=front';
    const isTrustedProxy = async (rawHeaders: readonly string[]): Promise<boolean | undefined> => {
      const at = rawHeaders.indexOf('authorization');
      if (!reviews) throw new Error('nobody answers');
      return at === -1 ? undefined : rawHeaders[at + 1] === 'Bearer proxy';
    };
    const make = (times: Partial<ConnectionTimes>): Listener =>
      new Listener(createApps(router), { cert: serving.certPem, key: serving.keyPem }, { isFrontProxy, isTrustedProxy, onEnding: (why) => endings.push(why), times });
    listener = make({});
    impatient = make({ handshakeMs: 400, headersMs: 400, idleMs: 1500, sweepMs: 20 });
    patientPort = await listener.listen('127.0.0.1', 0);
    impatientPort = await impatient.listen('127.0.0.1', 0);
  });
  beforeEach(() => void (port = patientPort));
  afterEach(() => {
    for (const connection of connections) connection.destroy();
    connections.length = 0;
    endings.length = 0;
    served = 0;
  });
  after(() => Promise.all([listener.close(0), impatient.close(0)]));

  it('ends who does not come to the end of a handshake, even one that goes on sending', async () => {
    port = impatientPort;
    const socket = kept(net.connect(port, '127.0.0.1'));
    socket.on('error', () => undefined);
    const hello = Buffer.from('16030102000100', 'hex'); // the head of a ClientHello that never gets whole
    let sent = 0;
    const dribble = setInterval(() => socket.write(hello.subarray(sent, ++sent)), 50);
    await once(socket, 'close').finally(() => clearInterval(dribble));
    assert.deepEqual(endings, ['slow handshake']);
  });

  it('ends who does not come to the end of his headers', async () => {
    port = impatientPort;
    const socket = await http1();
    socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n');
    const dribble = setInterval(() => socket.write('x: y\r\n'), 50);
    await once(socket.resume(), 'close').finally(() => clearInterval(dribble));
    assert.deepEqual(endings, ['slow headers']);
  });

  it('ends HTTP/1.1 connections that do nothing, and none with a request under way', async () => {
    port = impatientPort;
    const [idle, busy, between] = await Promise.all([http1(), http1(), http1()]);
    busy.write('GET /hold HTTP/1.1\r\nHost: localhost\r\n\r\n');
    between.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
    assert.match(String((await once(between, 'data'))[0]), /^HTTP\/1.1 200/);
    await Promise.all([once(idle.resume(), 'close'), once(between.resume(), 'close')]);
    assert.deepEqual(endings, ['idle', 'idle']);
    assert.equal(busy.destroyed, false);
  });

  it('says goodbye to HTTP/2 sessions that do nothing, and to none with a request under way', async () => {
    port = impatientPort;
    const [idle, busy, silent] = await Promise.all([session(), session(), rawPeer()]);
    const held = busy.request({ ':path': '/hold' });
    held.on('error', () => undefined);
    const [code] = (await once(idle, 'goaway')) as [number];
    assert.equal(code, constants.NGHTTP2_NO_ERROR);
    await once(silent.socket, 'close'); // hangs up by no means itself
    assert.equal(silent.goawayCode, constants.NGHTTP2_NO_ERROR);
    assert.equal(busy.closed, false);
  });

  it('answers 431 to headers that are too large and 400 to what is no HTTP, and counts them', async () => {
    for (const { sent, status, why } of [
      { sent: `GET / HTTP/1.1\r\nHost: localhost\r\nx: ${'y'.repeat(300_000)}\r\n\r\n`, status: 431, why: 'headers too large' },
      { sent: 'GET / HTTP/1.1\r\nHost: localhost\r\nx y: z\r\n\r\n', status: 400, why: 'malformed' },
      { sent: 'GET / HTTP/1.1\r\n\r\n', status: 400, why: 'malformed' },
    ] as const) {
      const socket = await http1();
      socket.write(sent);
      assert.match(String((await once(socket, 'data'))[0]), new RegExp(`^HTTP/1.1 ${status} .*Connection: close`, 'si'));
      await once(socket, 'close');
      assert.ok(endings.includes(why), endings.join());
    }
    assert.equal(served, 0);
  });

  it('counts CONNECT, and handshakes that fail but for who hangs up', async () => {
    const socket = await http1();
    socket.write('CONNECT localhost:443 HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await once(socket.resume(), 'close');
    assert.deepEqual(endings.splice(0), ['malformed']);
    const probe = kept(net.connect(port, '127.0.0.1'));
    probe.on('error', () => undefined);
    await once(probe, 'connect');
    probe.resetAndDestroy();
    const plain = kept(net.connect(port, '127.0.0.1'));
    plain.on('error', () => undefined);
    plain.write('GET / HTTP/1.1\r\n\r\n');
    await once(plain.resume(), 'close');
    await eventually('one is counted', () => endings.length > 0);
    assert.deepEqual(endings, ['failed handshake']);
  });

  // Each would cost a server without bounds its processor or its memory; each ends the session, or costs next to nothing.
  for (const { name, bytes } of [
    { name: 'PING frames', bytes: () => frame(frameType.ping, 0, 0, Buffer.alloc(8)) },
    { name: 'SETTINGS frames', bytes: () => frame(frameType.settings, 0, 0, Buffer.concat([Buffer.from([0, 4]), uint32(65_535)])) },
    { name: 'streams that are reset at once', bytes: (at: number) => Buffer.concat([headersFrames(2 * at + 1, get), frame(frameType.rstStream, 0, 2 * at + 1, uint32(8))]) },
    { name: 'CONTINUATION frames', bytes: (at: number) => (at === 0 ? frame(frameType.headers, endStream, 1, get) : frame(frameType.continuation, 0, 1, headerBlock([`x-${at}`, 'y'.repeat(1000)]))) },
    { name: 'empty CONTINUATION frames', bytes: (at: number) => (at === 0 ? frame(frameType.headers, endStream, 1, get) : frame(frameType.continuation, 0, 1)) },
    { name: 'PRIORITY frames', bytes: (at: number) => frame(frameType.priority, 0, 2 * at + 1, Buffer.alloc(5)) },
    { name: 'frames of no known type', bytes: () => frame(0x55, 0, 0, Buffer.alloc(8)) },
    { name: 'empty DATA frames', bytes: (at: number) => (at === 0 ? headersFrames(1, headerBlock(...pseudo('/hold', 'POST')), 0) : frame(frameType.data, 0, 1)) },
    { name: 'more streams than allowed', bytes: (at: number) => headersFrames(2 * at + 1, headerBlock(...pseudo('/hold'))) },
    { name: 'header lists of megabytes', bytes: (at: number) => headersFrames(2 * at + 1, Buffer.concat([get, headerBlock(...Array.from({ length: 2000 }, (_, index) => [`x-${index}`, 'y'.repeat(1000)] as const))])) },
  ]) {
    it(`ends the session of who floods it with ${name}`, async () => {
      const peer = await rawPeer();
      const before = process.memoryUsage().rss;
      const most = 100_000;
      let sent = 0;
      for (let more = true; more && sent < most; sent += 100) more = await peer.write(Buffer.concat(Array.from({ length: name.includes('megabytes') ? 1 : 100 }, (_, at) => bytes(sent + at))));
      assert.ok(sent < most, 'all of it was taken');
      await eventually('the connection is closed', () => peer.socket.destroyed, { everyMs: 10 });
      assert.ok(served < 1000, `${served} requests were served`);
      assert.ok(process.memoryUsage().rss - before < 100e6, 'memory');
      await eventually('it is counted', () => endings.length > 0, { everyMs: 10 });
      assert.equal(await ask(await session()), 200); // others are served
    });
  }

  it('tells who sends many PING frames, and reads the answers, to be calm', async () => {
    const peer = await rawPeer();
    for (let sent = 0; sent < 2000 && peer.goawayCode === undefined; sent += 1) {
      const acks = peer.frames.length;
      await peer.write(frame(frameType.ping, 0, 0, Buffer.alloc(8)));
      await eventually('it is answered', () => peer.frames.length > acks || peer.socket.destroyed, { everyMs: 1 });
    }
    assert.equal(peer.goawayCode, constants.NGHTTP2_ENHANCE_YOUR_CALM);
    await eventually('the connection is closed', () => peer.socket.destroyed, { everyMs: 10 });
    assert.deepEqual(endings, ['control frames']);
  });

  it('takes from the front proxy what it takes from nobody else: users with thousands of groups', async () => {
    const groups = Object.fromEntries(Array.from({ length: 3000 }, (_, index) => [`x-remote-extra-${index}`, 'v']));
    assert.equal(await ask(await session(front), groups), 200);
    assert.equal(await ask(await session(), groups), undefined);
    const streams = async (certificate?: typeof front): Promise<number | undefined> => (await session(certificate)).remoteSettings.maxConcurrentStreams;
    assert.ok((await streams(front))! >= 1000);
    assert.equal(await streams(), 100);
    assert.ok(listener.connections('front') >= 1 && listener.connections('peer') >= 1);
  });

  it('takes the same from another proxy, once a request has told that it is trusted, the first one too', async () => {
    const large = Object.fromEntries(Array.from({ length: 3000 }, (_, index) => [`impersonate-extra-${index}`, 'v']));
    const proxy = await session();
    assert.equal(await ask(proxy, { ...large, authorization: 'Bearer proxy' }), 200);
    assert.equal(await ask(proxy, large), 200);
    assert.equal(listener.connections('proxy'), 1);
    for (const other of [{}, { authorization: 'Bearer other' }] as Record<string, string>[]) {
      assert.equal(await ask(await session(), { ...large, ...other }), undefined);
      await eventually('it is counted', () => endings.splice(0).join() === 'headers too large');
    }
    reviews = false;
    const early = await session();
    assert.equal(await ask(early, { authorization: 'Bearer proxy' }), 200); // who it is concerns nobody but the connection's limits
    reviews = true;
    assert.equal(await ask(early, { ...large, authorization: 'Bearer proxy' }), 200);
    assert.equal(listener.connections('proxy'), 2);
  });

  it('ends connections of others whose requests are cancelled by the hundreds, and tells them to be calm', async () => {
    for (const [headers, calm] of [[{} as Record<string, string>, true], [{ authorization: 'Bearer other' }, true], [{ authorization: 'Bearer proxy' }, false]] as const) {
      const client = await session();
      let code: number | undefined;
      client.once('goaway', (received: number) => (code = received));
      await ask(client, headers);
      for (let round = 0; round < 10 && !client.closed; round += 1) {
        const cancelled = Array.from({ length: 100 }, () => client.request({ ':path': '/hold', ...headers }));
        for (const stream of cancelled) {
          stream.on('error', () => undefined);
          stream.close(constants.NGHTTP2_CANCEL);
        }
        await ask(client, headers);
      }
      assert.deepEqual([code, endings.splice(0).join()], calm ? [constants.NGHTTP2_ENHANCE_YOUR_CALM, 'resets'] : [undefined, '']);
    }
  });

  it('refuses requests of who does not read megabytes of answers, unless it speaks for many', async () => {
    for (const [headers, served] of [[{}, false], [{ authorization: 'Bearer other' }, false], [{ authorization: 'Bearer proxy' }, true]] as [Record<string, string>, boolean][]) {
      const client = await session();
      await ask(client, headers);
      const unread = Array.from({ length: 12 }, () => client.request({ ':path': '/large', ...headers }));
      for (const stream of unread) stream.on('error', () => undefined);
      await Promise.allSettled(unread.map((stream) => Promise.race([once(stream, 'response'), once(stream, 'close')])));
      assert.deepEqual([await ask(client, headers), endings.includes('unread answers'), client.closed], [served ? 200 : undefined, !served, false]);
      for (const stream of unread) stream.resume();
      await Promise.allSettled(unread.filter((stream) => !stream.closed).map((stream) => once(stream, 'close')));
      assert.equal(await ask(client, headers), 200); // what was unread has been read
      endings.length = 0;
    }
  });

  it('lets thousands of requests of the front proxy be cancelled without harm to the others', async () => {
    const client = await session(front);
    const held = client.request({ ':path': '/hold' });
    for (let round = 0; round < 5; round += 1) {
      for (let count = 0; count < 1000; count += 1) {
        const stream = client.request({ ':path': '/hold' });
        stream.on('error', () => undefined);
        stream.close(constants.NGHTTP2_CANCEL);
      }
      assert.equal(await ask(client), 200);
    }
    assert.equal(held.closed, false);
  });

  it('lets go of connections once who is at their other end turns out to be the front proxy, or no longer', async () => {
    frontIsKnown = false;
    const early = await session(front);
    const other = await session();
    const held = early.request({ ':path': '/hold' });
    await eventually('it is under way', () => served > 0);
    frontIsKnown = true;
    listener.reconsider();
    const [code] = (await once(early, 'goaway')) as [number];
    assert.equal(code, constants.NGHTTP2_NO_ERROR);
    assert.equal(held.closed, false); // what is under way goes on
    assert.equal(await ask(other), 200);
    assert.equal(listener.connections('front'), 0);
    await ask(await session(front));
    assert.equal(listener.connections('front'), 1);
  });
});
