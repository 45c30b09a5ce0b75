import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { Registry } from 'prom-client';

/** Serves `/metrics` over plain HTTP on a port of its own: the TLS port is for the front. */
export class MetricsServer {
  readonly #server: Server;

  constructor(registry: Registry) {
    this.#server = createServer({ requestTimeout: 10_000, headersTimeout: 10_000 }, (request, response) => {
      if (request.url !== '/metrics') return void response.writeHead(404).end();
      registry.metrics().then(
        (text) => response.writeHead(200, { 'content-type': registry.contentType }).end(text),
        () => response.writeHead(500).end(),
      );
    });
  }

  async listen(address: string, port: number): Promise<void> {
    this.#server.listen(port, address);
    await once(this.#server, 'listening'); // rejects where the port is taken
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}
