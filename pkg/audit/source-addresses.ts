import { isIP, isIPv4 } from 'node:net';
import { headerLine } from '../authentication/headers.ts';

/**
 * From where a request came, as the kube-apiserver tells it: `X-Forwarded-For`, `X-Real-Ip` unless it is among those, and the
 * connection's peer unless it is the last of them. All but the last can be made up by the client.
 * @param remoteAddress of the connection, without port
 */
export const sourceAddresses = (rawHeaders: readonly string[], remoteAddress: string | undefined): string[] => {
  const addresses = headerLine(rawHeaders, 'x-forwarded-for').split(',').flatMap((part) => canonical(part.trim()));
  const [real] = canonical(headerLine(rawHeaders, 'x-real-ip'));
  if (real !== undefined && !addresses.includes(real)) addresses.push(real);
  const [remote] = canonical(remoteAddress ?? '');
  if (remote !== undefined && addresses.at(-1) !== remote) addresses.push(remote);
  return addresses;
};

/** The one way to write an address, or none where the text is no address. */
const canonical = (text: string): string[] => {
  const bare = /^::ffff:([\d.]+)$/i.exec(text)?.[1] ?? text;
  const decimal = bare.replaceAll(/(?<=^|\.)0+(?=\d)/g, ''); // Go reads leading zeros as decimal still
  if (isIPv4(decimal)) return [decimal];
  if (isIP(text) !== 6 || text.includes('%')) return [];
  const shortest = new URL(`http://[${text}]`).hostname.slice(1, -1);
  const mapped = /^::ffff:([0-9a-f]+):([0-9a-f]+)$/.exec(shortest);
  if (!mapped) return [shortest];
  const [high, low] = [Number.parseInt(mapped[1]!, 16), Number.parseInt(mapped[2]!, 16)];
  return [[high >> 8, high & 255, low >> 8, low & 255].join('.')];
};
