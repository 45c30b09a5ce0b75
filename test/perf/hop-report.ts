import type { Measurement } from './measurement.ts';
import { number, textTable } from './text-table.ts';

export const proxyName = 'audit-proxy';
export const directName = 'tenant-apiserver, direct';
export const auditedName = 'tenant-apiserver, direct, audited';

/** CPU of the proxy for a get, in ms. */
const getTarget = 0.5;

/** What audit-proxy adds to the same requests that go straight to the server. */
export const hopSection = (measurements: readonly Measurement[], objects: number): string => {
  const rows = measurements.flatMap((proxied) => {
    if (proxied.server !== proxyName || proxied.objects !== objects) return [];
    const direct = measurements.find((row) => row.server === directName && row.operation === proxied.operation && row.objects === objects);
    const added = (figure: 'wallP50Ms' | 'wallP99Ms'): string => {
      const [with_, without] = [proxied[figure], direct?.[figure]];
      return with_ === null || without === null || without === undefined ? '-' : number(with_ - without);
    };
    return [[proxied.operation, number(proxied.cpuMsPerOp), added('wallP50Ms'), added('wallP99Ms')]];
  });
  if (rows.length === 0) return '';
  const get = measurements.find((row) => row.server === proxyName && row.operation === 'get' && row.objects === objects)?.cpuMsPerOp;
  const verdict = get === null || get === undefined ? '' : `\n\nget: ${number(get)} ms CPU of the proxy, to be below ${getTarget}: ${get < getTarget ? 'reached' : 'MISSED'}`;
  return `${objects} objects: the hop through audit-proxy\n\n${textTable(['operation', 'CPU ms of the proxy', 'added p50 ms', 'added p99 ms'], rows)}${verdict}`;
};
