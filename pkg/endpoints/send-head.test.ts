import assert from 'node:assert/strict';
import { after, before, describe, it } from 'mocha';
import { eventually } from '../../test/poll.ts';
import { makeAuthority, makeCertificate, serverAuth } from '../authentication/certificate-fixtures.ts';
import { endHeaders, endStream, frameType, headerBlock, headersFrames, RawPeer } from '../server/http2-frames-fixture.ts';
import { Listener } from '../server/listener.ts';
import { sendHead } from './send-head.ts';

const serving = makeCertificate({ commonName: 'localhost', issuer: makeAuthority(), usages: [serverAuth] });
const get = headerBlock([':method', 'GET'], [':path', '/'], [':scheme', 'https'], [':authority', 'localhost']);

describe('sendHead over HTTP/2', () => {
  let listener: Listener;
  let port = 0;
  let headers: Record<string, number> = {};
  before(async () => {
    listener = new Listener(
      {
        http1: () => assert.fail('HTTP/2 was asked for'),
        http2: (_request, response) => {
          response.setHeader('audit-id', 'x');
          sendHead(response, 201, headers);
          assert.deepEqual([response.headersSent, response.statusCode], [true, 201]);
          response.end('body');
        },
      },
      { cert: serving.certPem, key: serving.keyPem },
    );
    port = await listener.listen('127.0.0.1', 0);
  });
  after(() => listener.close(0));

  for (const { name, sent, frames } of [
    { name: 'ends a body of stated length with its last frame', sent: { 'content-length': 4 }, frames: [[frameType.headers, endHeaders], [frameType.data, endStream]] },
    { name: 'leaves room for trailers after any other', sent: {}, frames: [[frameType.headers, endHeaders], [frameType.data, 0], [frameType.data, endStream]] },
  ]) {
    it(name, async () => {
      headers = sent;
      const peer = await RawPeer.connect({ host: '127.0.0.1', port, rejectUnauthorized: false });
      await peer.write(headersFrames(1, get));
      const ofStream = (): typeof peer.frames => peer.frames.filter(({ stream }) => stream === 1);
      await eventually('the answer has ended', () => ofStream().some(({ type, flags }) => type === frameType.data && (flags & endStream) !== 0));
      assert.deepEqual(ofStream().map(({ type, flags }) => [type, flags]), frames);
      peer.socket.destroy();
    });
  }
});
