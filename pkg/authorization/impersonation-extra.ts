import { quoted } from './go-text.ts';
import { isSubdomain } from './selectors.ts';

const subdomain =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character " +
  String.raw`(e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`;
const pathCharacters = String.raw`[A-Za-z0-9/\-._~%!$&'()*+,;=:]+`;

/** What constrained impersonation has against extra values: keys are domain-prefixed paths in lower case, values are not empty. */
export const faultOfExtra = (extra: Readonly<Record<string, readonly string[]>>): string | undefined => {
  for (const [key, values] of Object.entries(extra)) {
    if (key === '') return 'impersonating the empty string key in extra is not allowed';
    const faults = faultsOfKey(key).map(({ value, fault }) => `extra.key: Invalid value: ${quoted(value)}: ${fault}`);
    if (faults.length > 0) return `impersonating an invalid key in extra is not allowed: ${faults.length === 1 ? faults[0] : `[${faults.join(', ')}]`}`;
    if (key !== key.toLowerCase()) return `impersonating a non-lowercase key in extra is not allowed: ${quoted(key)}`;
    if (values.length === 0) return 'impersonating empty values in extra is not allowed';
    if (values.includes('')) return 'impersonating the empty string value in extra is not allowed';
  }
  return undefined;
};

const faultsOfKey = (key: string): { value: string; fault: string }[] => {
  const at = key.indexOf('/');
  const host = key.slice(0, at);
  const path = key.slice(at + 1);
  if (at < 1 || path === '') return [{ value: key, fault: 'must be a domain-prefixed path (such as "acme.io/foo")' }];
  return [
    ...(host.length > 253 ? [{ value: host, fault: 'must be no more than 253 characters' }] : []),
    ...(isSubdomain(host.slice(0, 253)) || host.length > 253 ? [] : [{ value: host, fault: subdomain }]),
    ...(new RegExp(`^${pathCharacters}$`).test(path) ? [] : [{ value: path, fault: `Invalid path (regex used for validation is '${pathCharacters}')` }]),
  ];
};
