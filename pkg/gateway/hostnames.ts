/** Hosts are compared in lower case and without trailing dot. */
export const normalHost = (host: string): string => host.toLowerCase().replace(/\.$/, '');

/** Whether a host is an apex or lies below it, label by label; nothing lies below an empty apex. */
export const isUnder = (host: string, apex: string): boolean => apex !== '' && (host === apex || host.endsWith(`.${apex}`));

const hostPattern = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?(\.[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)*$/;

export const isHost = (host: string): boolean => host.length <= 253 && hostPattern.test(host);

/** Why a claim of a host is refused, or undefined; `host` is in normal form. */
export const claimFault = (host: string, apex: string): string | undefined => {
  if (host.startsWith('*.')) return `${host}: a wildcard cannot have a certificate by HTTP-01; name each host, or use certMode dns01`;
  if (!isHost(host)) return `${host}: is no DNS name`;
  if (apex === '') return `${host}: the namespace has no host (label namespace.cozystack.io/host)`;
  if (!isUnder(host, apex)) return `${host}: is neither ${apex} nor below it`;
  return undefined;
};
