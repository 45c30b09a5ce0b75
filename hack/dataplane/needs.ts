import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { access, constants } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { promisify } from 'node:util';
import { fixedFolder } from './fixed-certificates.ts';

const run = promisify(execFile);

/** On all addresses: http and https of the gateways, then the xDS server and Wasm cache of Envoy Gateway, its debug, metrics, health and webhook ports, and Envoy's readiness and shutdown ports. */
export const dataPlanePorts = [80, 443, 18000, 18002, 19000, 19001, 19002, 19003, 8081, 9443];

/** What this machine lacks for a data plane, in words that say what to do; nothing is downloaded, built or started. */
export const missingForDataPlane = async (): Promise<string[]> => {
  const faults = await Promise.all([
    platformFault(),
    answers('go', ['version'], 'Envoy Gateway is built with Go, which is not on PATH: install Go (https://go.dev/dl/)'),
    answers('python3', ['-m', 'pip', '--version'], 'Envoy is downloaded with pip, and `python3 -m pip` cannot be run: install Python 3 with pip'),
    isWritable(path.dirname(fixedFolder)),
    ...dataPlanePorts.map(portFault),
  ]);
  return faults.filter((fault) => fault !== undefined);
};

const platformFault = async (): Promise<string | undefined> => (process.platform === 'linux' ? undefined : `Envoy is downloaded for Linux, and this is ${process.platform}`);

const answers = (command: string, args: readonly string[], otherwise: string): Promise<string | undefined> => run(command, args).then(() => undefined, () => otherwise);

const isWritable = (folder: string): Promise<string | undefined> =>
  access(folder, constants.W_OK).then(() => undefined, () => `Envoy Gateway reads its certificates from ${fixedFolder}, and ${folder} cannot be written to: run this as root, in a container say`);

const portFault = async (port: number): Promise<string | undefined> => {
  const server = createServer();
  server.listen({ port, host: '0.0.0.0' });
  try {
    await once(server, 'listening');
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EACCES' ? `port ${port} may not be listened on: run this as root, in a container say` : `port ${port} is in use: end what listens on it`;
  }
  server.close();
  await once(server, 'close');
  return undefined;
};
