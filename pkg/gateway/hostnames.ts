/** Hosts are compared in lower case and without trailing dot. */
export const normalHost = (host: string): string => host.toLowerCase().replace(/\.$/, '');

/** Whether a host is an apex or lies below it, label by label; nothing lies below an empty apex. */
export const isUnder = (host: string, apex: string): boolean => apex !== '' && (host === apex || host.endsWith(`.${apex}`));

const hostPattern = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?(\.[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)*$/;

export const isHost = (host: string): boolean => host.length <= 253 && hostPattern.test(host);

export const isWildcard = (host: string): boolean => host.startsWith('*.');

/** What is left of a host without its first label: of a wildcard, what it covers one label below. */
export const above = (host: string): string => host.slice(host.indexOf('.') + 1);
