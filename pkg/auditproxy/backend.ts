import { request as httpsRequest, type RequestOptions } from 'node:https';
import type { ConnectionOptions } from 'node:tls';
import type { ClientRequest } from 'node:http';
import type { OutgoingHttpHeaders } from 'node:http2';
import { isIP } from 'node:net';
import type { RestConfig } from '../kube/config.ts';
import { Transport, type Exchange, type RequestBody, type ResponseSink } from '../kube/transport.ts';
import type { BackendTrust } from './backend-trust.ts';

export interface BackendOptions {
  /** Its path, if any, is put before the path of each request. */
  url: URL;
  serverName: string;
  insecureSkipVerify: boolean;
  trust: BackendTrust;
}

/** A client that does not read may have so much wait for it here; what is beyond waits at the backend. */
const streamWindow = 256 * 1024;

/** The one server that requests go to: over HTTP/2, and over HTTP/1.1 where a client wants to change protocols. */
export class Backend {
  readonly #options: BackendOptions;
  readonly #transport: Transport;
  readonly #basePath: string;

  constructor(options: BackendOptions) {
    const { url, serverName, insecureSkipVerify, trust } = options;
    const config: RestConfig = {
      server: url,
      ...(serverName && { serverName }),
      insecureSkipVerify,
      get ca() {
        return trust.current; // read for each new connection
      },
      token: () => Promise.resolve(undefined), // requests bring theirs
    };
    this.#options = options;
    this.#transport = new Transport(config, streamWindow);
    this.#basePath = url.pathname.replace(/\/+$/, '');
  }

  /** @throws ConnectionError as Transport.send; headers without pseudo headers */
  send(method: string, target: string, headers: OutgoingHttpHeaders, body: RequestBody | undefined, sink: ResponseSink): Promise<Exchange> {
    return this.#transport.send({ ...headers, ':method': method, ':path': this.#basePath + target }, body, sink);
  }

  /** A request over HTTP/1.1 on a connection of its own, not sent yet. */
  upgrade(method: string, target: string, headers: OutgoingHttpHeaders): ClientRequest {
    const { url, serverName, insecureSkipVerify, trust } = this.#options;
    const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
    const options: RequestOptions & ConnectionOptions = {
      host,
      port: Number(url.port || 443),
      servername: serverName || (isIP(host) ? '' : host),
      ca: trust.current,
      rejectUnauthorized: !insecureSkipVerify,
      ALPNProtocols: ['http/1.1'],
      agent: false,
      method,
      path: this.#basePath + target,
      headers,
    };
    return httpsRequest(options);
  }

  close(): void {
    this.#transport.close();
  }
}
