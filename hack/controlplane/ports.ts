import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Finds loopback ports that nobody listens on. They lie below the ranges that systems hand out to outgoing connections
 * (32768 and up), so that a component that is stopped for a while finds its port still free, and above those that the data
 * plane of tests is bound to.
 */
export const freePorts = async (count: number): Promise<number[]> => {
  const ports = new Set<number>();
  while (ports.size < count) {
    const port = randomInt(20_000, 32_000);
    if (!ports.has(port) && (await isFree(port))) ports.add(port);
  }
  return [...ports];
};

const isFree = async (port: number): Promise<boolean> => {
  const server = createServer();
  server.listen({ port, host: '127.0.0.1' });
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
};
