import { once } from 'node:events';
import http from 'node:http';
import https from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import type { KeyPair } from '../../../pkg/server/certificates.ts';
import { atEnd } from '../../lifecycle.ts';

/** Serves until the run is over, and answers every request with `name`. @returns its port on loopback */
export const backend = (name: string): Promise<number> => listening(http.createServer((_, response) => void response.end(name)));

/** The same behind a certificate of its own. */
export const tlsBackend = (name: string, { certPem, keyPem }: KeyPair): Promise<number> => listening(https.createServer({ cert: certPem, key: keyPem }, (_, response) => void response.end(name)));

const listening = async (server: Server & { closeAllConnections(): void }): Promise<number> => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(() => {
    server.close();
    server.closeAllConnections();
  });
  return (server.address() as AddressInfo).port;
};
