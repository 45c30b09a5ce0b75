import assert from 'node:assert/strict';
import { once } from 'node:events';
import http2, { type Http2ServerRequest } from 'node:http2';
import https from 'node:https';
import tls from 'node:tls';
import { after, before, beforeEach, describe, it } from 'mocha';
import { eventually } from '../../test/poll.ts';
import { fronts, ProxyFixture } from './proxy-fixture.ts';

const tenants = '/apis/apps.cozystack.io/v1alpha1/namespaces/n/tenants';

describe('proxyHandler', () => {
  let proxy: ProxyFixture;
  before(async () => {
    proxy = new ProxyFixture();
    await proxy.start();
  });
  after(() => proxy.stop());
  beforeEach(() => {
    proxy.answer = (_request, response) => response.end('{}');
  });

  describe('what the backend sees', () => {
    const seen = async (headers: Record<string, string | string[]>): Promise<Http2ServerRequest> => {
      const { promise, resolve } = Promise.withResolvers<Http2ServerRequest>();
      proxy.answer = (request, response) => {
        resolve(request);
        response.end('{}');
      };
      await proxy.ask(headers);
      return promise;
    };

    it("is the verified user by impersonation, with the proxy's token and nothing of the caller's own", async () => {
      const { rawHeaders } = await seen({
        ':path': '/apis', 'x-remote-user': 'alice', 'x-remote-group': ['g1', 'g2'], 'x-remote-uid': 'u', 'x-remote-extra-a%2fb': 'v',
        authorization: 'Bearer mine', 'impersonate-user': 'root', 'impersonate-group': 'system:masters', 'impersonate-extra-scopes': 'all',
      });
      const lines = (beginning: string): string[] => rawHeaders.flatMap((text, at) => (at % 2 === 0 && text.startsWith(beginning) ? [`${text}: ${rawHeaders[at + 1]}`] : [])).toSorted();
      assert.deepEqual(lines('impersonate-'), ['impersonate-extra-a%2fb: v', 'impersonate-group: g1', 'impersonate-group: g2', 'impersonate-uid: u', 'impersonate-user: alice']);
      assert.deepEqual(lines('authorization'), ['authorization: Bearer proxy-token']);
      assert.deepEqual(lines('x-remote-'), []);
    });
    it('is every group of a user who has a thousand', async () => {
      const groups = Array.from({ length: 1000 }, (_, index) => `a-group-with-a-rather-long-name-as-directories-have-them:${index}`);
      const { rawHeaders } = await seen({ ':path': '/apis', 'x-remote-group': groups });
      assert.deepEqual(rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1] === 'impersonate-group'), groups);
    });
    it('is the target as it was sent', async () => {
      for (const path of [`${tenants}/a?x=%2f&y=a+b`, '/apis//x/..;/%2e%2e/%2Fa']) assert.equal((await seen({ ':path': path })).url, path);
    });
    it('is the Audit-ID that came, or a new one', async () => {
      assert.equal((await seen({ ':path': '/apis', 'audit-id': 'given' })).headers['audit-id'], 'given');
      assert.match(String((await seen({ ':path': '/apis' })).headers['audit-id']), /^[0-9a-f-]{36}$/);
    });
    it('is the token of the moment', async () => {
      proxy.token.current = 'rotated';
      assert.equal((await seen({ ':path': '/apis' })).headers.authorization, 'Bearer rotated');
    });
  });

  describe('passes on', () => {
    it('a body and its answer, small and large', async () => {
      proxy.answer = (request, response) => void request.pipe(response);
      for (const size of [0, 10, 3_000_000]) {
        const body = Buffer.alloc(size, 'abcdefghijk');
        const { status, text } = await proxy.ask({ ':path': tenants, ':method': 'POST', 'content-length': String(size) }, { body });
        assert.equal(status, 200);
        assert.ok(text === body.toString());
      }
    });
    it('informational answers, headers and trailers', async () => {
      proxy.answer = (_request, response) => {
        response.stream.additionalHeaders({ ':status': 103, link: '</a>' });
        response.writeHead(201, { warning: ['299 - "a"', '299 - "b"'], 'audit-id': 'x' } as object as http2.OutgoingHttpHeaders);
        response.write('body');
        response.addTrailers({ 'x-sum': '7' });
        response.end();
      };
      const stream = proxy.open({ ':path': '/apis' });
      const [early] = (await once(stream, 'headers')) as [http2.IncomingHttpHeaders];
      assert.deepEqual([early[':status'], early.link], [103, '</a>']);
      stream.destroy();
      const { status, headers, trailers, text } = await proxy.ask({ ':path': '/apis' });
      assert.deepEqual([status, headers.warning, headers['audit-id'], trailers['x-sum'], text], [201, '299 - "a", 299 - "b"', 'x', '7', 'body']);
    });
    it('trailers of an answer with a length, where they are announced', async () => {
      proxy.answer = (_request, response) => {
        response.writeHead(200, { 'content-length': 4, trailer: 'x-sum' });
        response.addTrailers({ 'x-sum': '7' });
        response.end('body');
      };
      const { trailers, text, complete } = await proxy.ask({ ':path': '/apis' });
      assert.deepEqual([trailers['x-sum'], text, complete], ['7', 'body', true]);
    });
    it('the last piece of an answer before its end, where that is late', async () => {
      let end = (): void => undefined;
      proxy.answer = (_request, response) => {
        response.writeHead(200, { 'content-length': 4 });
        response.write('bo');
        response.write('dy');
        end = () => void response.end();
      };
      const stream = proxy.open({ ':path': '/apis' });
      let text = '';
      stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
      await eventually('the body is there', () => text === 'body');
      end();
      await once(stream, 'close');
      assert.deepEqual([text, stream.rstCode], ['body', 0]);
    });
    it('events of a watch as they come, and the end of the reader', async () => {
      const { promise: gone, resolve } = Promise.withResolvers<void>();
      let write: (text: string) => void = () => undefined;
      proxy.answer = (_request, response) => {
        write = (text) => void response.write(text);
        response.writeHead(200);
        response.once('close', resolve);
      };
      const stream = proxy.open({ ':path': `${tenants}?watch=true` });
      await once(stream, 'response');
      for (const text of ['one', 'two']) {
        const came = once(stream, 'data');
        write(text);
        assert.equal(String((await came)[0]), text);
      }
      assert.equal(await proxy.metric('audit_proxy_longrunning_requests'), 1);
      stream.close(http2.constants.NGHTTP2_CANCEL);
      await gone;
      await eventually('the watch is over', async () => (await proxy.metric('audit_proxy_longrunning_requests')) === 0);
    });
    it('that the client was gone before an answer began', async () => {
      const { promise: gone, resolve } = Promise.withResolvers<void>();
      const { promise: came, resolve: arrived } = Promise.withResolvers<void>();
      proxy.answer = (_request, response) => {
        arrived();
        response.once('close', resolve);
      };
      const stream = proxy.open({ ':path': '/apis' });
      await came;
      stream.close(http2.constants.NGHTTP2_CANCEL);
      await gone;
    });
    it('no request whose body did not come whole', async () => {
      proxy.answer = () => assert.fail('the backend was asked');
      const stream = proxy.open({ ':path': tenants, ':method': 'POST', 'content-length': '10' });
      stream.write('half');
      await eventually('the proxy has begun to read', () => stream.bufferSize === 0);
      stream.close(http2.constants.NGHTTP2_CANCEL);
      await once(stream, 'close');
      proxy.answer = (_request, response) => response.end('{}');
      assert.equal((await proxy.ask({ ':path': '/apis' })).status, 200);
    });
    it('that nobody reads: what waits is bounded, and nothing is lost', async () => {
      const total = 64 << 20;
      const piece = Buffer.alloc(64 * 1024, 'x');
      let written = 0;
      proxy.answer = (_request, response) => {
        const more = (): void => {
          while (written < total) {
            written += piece.length;
            if (!response.write(piece)) return void response.once('drain', more);
          }
          response.end();
        };
        more();
      };
      const stream = proxy.open({ ':path': tenants });
      await once(stream, 'response');
      let before = -1;
      await eventually('the backend waits', () => {
        const still = written === before;
        before = written;
        return still && written > 0;
      });
      assert.ok(written < total / 4, `${written} of ${total} bytes were written`);
      let read = 0;
      stream.on('data', (chunk: Buffer) => (read += chunk.length));
      await once(stream, 'end');
      assert.equal(read, total);
    });
  });

  describe('when the backend fails', () => {
    it('breaks off what it has begun, and never ends it as if it were whole', async () => {
      proxy.answer = (_request, response) => {
        response.writeHead(200);
        response.write('half', () => response.stream.close(http2.constants.NGHTTP2_INTERNAL_ERROR));
      };
      const { status, complete } = await proxy.ask({ ':path': '/apis' });
      assert.deepEqual([status, complete], [200, false]);
    });
    it('answers 502 where nobody knows what became of it', async () => {
      proxy.answer = (_request, response) => response.stream.close(http2.constants.NGHTTP2_INTERNAL_ERROR);
      const { status, text } = await proxy.ask({ ':path': '/apis' });
      assert.equal(status, 502);
      assert.match(JSON.parse(text).message, /^error trying to reach service: /);
    });
    it('sends it once more where it surely was not processed', async () => {
      let asked = 0;
      proxy.answer = (_request, response) => {
        asked += 1;
        if (asked === 1) response.stream.close(http2.constants.NGHTTP2_REFUSED_STREAM);
        else response.end('{}');
      };
      const { status } = await proxy.ask({ ':path': tenants, ':method': 'POST', 'content-length': '2' }, { body: '{}' });
      assert.deepEqual([status, asked], [200, 2]);
    });
    it('answers 504 where nothing comes in time', async () => {
      const slow = new ProxyFixture();
      slow.timeoutMs = 50;
      await slow.start();
      slow.answer = () => undefined;
      const { status, text } = await slow.ask({ ':path': '/apis' });
      assert.deepEqual([status, JSON.parse(text).reason], [504, 'Timeout']);
      assert.equal(await slow.metric('audit_proxy_backend_failures_total{reason="timeout"}'), 1);
      await slow.stop();
    });
    it('answers 503 where it cannot be reached', async () => {
      const lonely = new ProxyFixture();
      await lonely.start();
      lonely.backendServer.close();
      const { status, text, headers } = await lonely.ask({ ':path': '/apis' });
      assert.deepEqual([status, headers['retry-after']], [503, '1']);
      assert.match(JSON.parse(text).message, /^error trying to reach service: cannot connect to .*ECONNREFUSED/);
      await lonely.stop();
    });
  });

  describe('refuses', () => {
    for (const [what, certificate, reason] of [
      ['nobody', null, 'no_certificate'],
      ['a certificate of another authority', fronts.otherAuthority, 'untrusted_certificate'],
      ['an expired certificate', fronts.expired, 'untrusted_certificate'],
      ['a certificate for servers', fronts.wrongUsage, 'untrusted_certificate'],
      ['a certificate of another name', fronts.wrongName, 'untrusted_certificate'],
    ] as const) {
      it(`${what}, with 401, whatever headers say`, async () => {
        const counter = `audit_proxy_refused_requests_total{reason="${reason}"}`;
        const earlier = await proxy.metric(counter);
        proxy.answer = () => assert.fail('the backend was asked');
        const { status, text } = await proxy.ask({ ':path': '/apis', 'x-remote-user': 'root', 'x-remote-group': 'system:masters', authorization: 'Bearer secret-of-mine' }, { certificate });
        assert.deepEqual([status, JSON.parse(text).reason], [401, 'Unauthorized']);
        assert.equal(await proxy.metric(counter), earlier + 1);
        assert.ok(!proxy.logged.join('\n').includes('secret-of-mine'));
      });
    }
    it('a front that names nobody', async () => assert.equal((await proxy.ask({ ':path': '/apis', 'x-remote-user': '' })).status, 401));
    it('targets that are no paths', async () => {
      for (const target of ['https://elsewhere.test/apis', '*']) {
        const socket = tls.connect({ ...proxy.tls(), ALPNProtocols: ['http/1.1'] });
        socket.write(`OPTIONS ${target} HTTP/1.1\r\nHost: a\r\nX-Remote-User: alice\r\nConnection: close\r\n\r\n`);
        const [answer] = (await once(socket, 'data')) as [Buffer];
        assert.match(answer.toString(), /^HTTP\/1\.1 400 /);
        socket.destroy();
      }
    });
  });

  describe('upgrades', () => {
    const upgrade = (headers: Record<string, string> = {}): ReturnType<typeof https.request> =>
      https.request({ ...proxy.tls(), ALPNProtocols: ['http/1.1'], agent: false, path: `${tenants}?watch=true`, headers: { connection: 'Upgrade', upgrade: 'websocket', 'x-remote-user': 'alice', ...headers } } as https.RequestOptions);

    it('are passed on with both directions, without the token among the protocols', async () => {
      const { promise: asked, resolve } = Promise.withResolvers<http2.IncomingHttpHeaders>();
      proxy.backendServer.once('upgrade', (request, socket) => {
        resolve(request.headers);
        socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Protocol: binary\r\n\r\n');
        socket.pipe(socket);
      });
      const request = upgrade({ 'sec-websocket-protocol': 'base64url.bearer.authorization.k8s.io.c2VjcmV0, binary' }).end();
      const [answer, socket] = (await once(request, 'upgrade')) as [http2.Http2ServerRequest, tls.TLSSocket];
      assert.equal(answer.headers['sec-websocket-protocol'], 'binary');
      socket.write('echo');
      assert.equal(String((await once(socket, 'data'))[0]), 'echo');
      const { 'impersonate-user': user, 'sec-websocket-protocol': protocols, authorization } = await asked;
      assert.deepEqual([user, protocols, authorization], ['alice', 'binary', `Bearer ${proxy.token.current}`]);
      socket.destroy();
      await eventually('the connection is counted as over', async () => (await proxy.metric('audit_proxy_longrunning_requests')) === 0);
    });
    it('that the backend refuses are answered as it answers', async () => {
      proxy.answer = (_request, response) => response.writeHead(403).end('no');
      const [answer] = (await once(upgrade().end(), 'response')) as [http2.Http2ServerRequest & { statusCode: number }];
      assert.equal(answer.statusCode, 403);
    });
  });

  it('ends watches, whole as they are, when it stops', async () => {
    const stopping = new ProxyFixture();
    await stopping.start();
    stopping.answer = (_request, response) => {
      response.writeHead(200);
      response.write('event');
    };
    const stream = stopping.open({ ':path': `${tenants}?watch=true` });
    await once(stream, 'data');
    stopping.ending.abort();
    await once(stream, 'end');
    assert.equal(stream.rstCode, 0);
    await stopping.stop();
  });
});
