import { afterEach, describe, it } from 'mocha';
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { makeAuthority, makeCertificate, serverAuth } from '../authentication/certificate-fixtures.ts';
import type { RestConfig } from '../kube/config.ts';
import { encode } from './encoding.ts';
import { eventNamed } from './fixtures.ts';
import { WebhookDelivery } from './webhook-delivery.ts';

interface Received {
  url: string | undefined;
  method: string | undefined;
  headers: http.IncomingHttpHeaders;
  body: { kind: string; apiVersion: string; items: { auditID: string }[] };
}

const authority = makeAuthority({ commonName: 'servers' });
const serving = makeCertificate({ commonName: 'localhost', issuer: authority, usages: [serverAuth], extensions: [['2.5.29.17', false, '\u0030\u000b\u0082\u0009localhost']] });
const signal = new AbortController().signal;

describe('a webhook', () => {
  const servers: http.Server[] = [];
  afterEach(() => {
    for (const server of servers.splice(0)) {
      server.closeAllConnections();
      server.close();
    }
  });

  /** Answers each request with the next of the codes; 0 cuts the connection. */
  const serve = async (codes: number[], tls = true): Promise<{ target: RestConfig; received: Received[] }> => {
    const received: Received[] = [];
    const handler = async (request: http.IncomingMessage, response: http.ServerResponse): Promise<void> => {
      const body = Buffer.concat(await request.toArray()).toString();
      received.push({ url: request.url, method: request.method, headers: request.headers, body: JSON.parse(body) as Received['body'] });
      const code = codes.shift() ?? 200;
      if (code === 0) request.socket.destroy();
      else response.writeHead(code).end('{}');
    };
    const server = tls ? https.createServer({ cert: serving.certPem, key: serving.keyPem }, (...args) => void handler(...args)) : http.createServer((...args) => void handler(...args));
    servers.push(server);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const target: RestConfig = { server: new URL(`${tls ? 'https' : 'http'}://127.0.0.1:${port}/audit?cluster=a`), serverName: 'localhost', insecureSkipVerify: false, ca: authority.certPem, token: () => Promise.resolve('secret') };
    return { target, received };
  };
  const deliveryTo = (target: RestConfig, rest: object = {}): WebhookDelivery => new WebhookDelivery({ target, initialBackoffMs: 1, userAgent: 'test/1', ...rest });
  const events = ['a', 'b'].map((id) => encode(eventNamed(id)));

  for (const tls of [true, false]) {
    it(`gets an EventList, over ${tls ? 'TLS' : 'plain HTTP'}`, async () => {
      const { target, received } = await serve([], tls);
      const delivery = deliveryTo(target);
      await delivery.deliver(events, signal);
      await delivery.close();
      const [{ url, method, headers, body }] = received as [Received];
      assert.deepEqual([method, url, headers.authorization, headers['content-type'], headers['user-agent']], ['POST', '/audit?cluster=a', 'Bearer secret', 'application/json', 'test/1']);
      assert.deepEqual(body, { kind: 'EventList', apiVersion: 'audit.k8s.io/v1', metadata: {}, items: events.map(({ event }) => event) });
    });
  }

  for (const [name, codes] of [['errors of its own', [500, 503]], ['refusals', [400, 401, 404]], ['cut connections', [0, 0]], ['redirects', [302]]] as const) {
    it(`is asked again after ${name}`, async () => {
      const { target, received } = await serve([...codes]);
      await deliveryTo(target).deliver(events, signal);
      assert.equal(received.length, codes.length + 1);
    });
  }

  it('is given up after five attempts', async () => {
    const { target, received } = await serve([500, 500, 500, 500, 502, 200]);
    await assert.rejects(deliveryTo(target).deliver(events, signal), /^Error: the audit webhook answered 502$/);
    assert.equal(received.length, 5);
  });

  it('is given up where it does not answer in time', async () => {
    const server = http.createServer(() => undefined);
    servers.push(server);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const target: RestConfig = { server: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`), insecureSkipVerify: false, token: () => Promise.resolve(undefined) };
    await assert.rejects(deliveryTo(target, { timeoutMs: 20 }).deliver(events, signal), /timeout|abort/i);
  });

  it('is not trusted where its certificate is another', async () => {
    const { target, received } = await serve([]);
    await assert.rejects(deliveryTo({ ...target, ca: makeAuthority({ commonName: 'others' }).certPem }).deliver(events, signal), /certificate/);
    await assert.rejects(deliveryTo({ ...target, serverName: 'elsewhere' }).deliver(events, signal), /altnames/);
    assert.equal(received.length, 0);
    await deliveryTo({ ...target, ca: undefined, insecureSkipVerify: true }).deliver(events, signal);
    assert.equal(received.length, 1);
  });

  it('is left alone as soon as the server stops, with the error that there was', async () => {
    const { target, received } = await serve([500, 500]);
    const stop = new AbortController();
    servers[0]!.on('request', (_request, response) => response.once('finish', () => stop.abort()));
    const delivered = deliveryTo(target, { initialBackoffMs: 2 ** 30 }).deliver(events, stop.signal);
    await assert.rejects(delivered, /answered 500|aborted/);
    assert.equal(received.length, 1);
  });
});
