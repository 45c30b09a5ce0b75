const labelPattern = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;

/** Why a text is no host name (RFC 1123, lower case, no wildcard, no trailing dot), or undefined where it is one. */
export const hostnameFault = (host: string): string | undefined => {
  if (host !== host.toLowerCase()) return 'must be in lower case';
  if (host.endsWith('.')) return 'must not end with a dot';
  if (host.includes('*')) return 'must not hold a wildcard';
  if (host.length > 253 || !host.split('.').every((label) => label.length <= 63 && labelPattern.test(label))) {
    return 'must be a DNS name: labels of lower case letters, digits and dashes, separated by dots';
  }
  return undefined;
};
