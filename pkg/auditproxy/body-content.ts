import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { parse } from 'yaml';
import type { Capture } from './capture.ts';

const unzip = promisify(gunzip);

/** Reading YAML takes a thousand times as long as reading JSON, and would hold up other requests. */
const maxYamlBytes = 64 * 1024;

/** What a captured body holds, or why an event cannot show it. */
export type BodyContent = { value: unknown } | { unreadable: string; truncated: boolean };

/**
 * Decodes a captured body; undefined where there was none.
 * @param maxBytes of the body as it was before compression
 */
export const contentOf = async (capture: Capture, type: string, encoding: string, maxBytes: number): Promise<BodyContent | undefined> => {
  const tooLarge = { unreadable: `larger than ${maxBytes} bytes`, truncated: true };
  if (capture.truncated) return tooLarge;
  let bytes = capture.bytes();
  if (bytes.length === 0) return undefined;
  try {
    if (encoding === 'gzip') bytes = await unzip(bytes, { maxOutputLength: maxBytes });
    else if (encoding !== '' && encoding !== 'identity') return { unreadable: `encoded as ${encoding}`, truncated: false };
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE' ? tooLarge : { unreadable: 'not gzip', truncated: false };
  }
  const mediaType = type.split(';')[0]!.trim().toLowerCase();
  if (mediaType.includes('protobuf') || mediaType.includes('cbor')) return { unreadable: `of type ${mediaType}`, truncated: false };
  return parsed(bytes, mediaType.includes('yaml'));
};

const parsed = (bytes: Buffer, mayBeYaml: boolean): BodyContent => {
  const text = bytes.toString('utf8');
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    // YAML, or nothing that has a place in an event
  }
  if (mayBeYaml && bytes.length > maxYamlBytes) return { unreadable: `YAML of more than ${maxYamlBytes} bytes`, truncated: true };
  try {
    if (mayBeYaml) return { value: parse(text, { maxAliasCount: 0 }) as unknown };
  } catch {
    // neither
  }
  return { unreadable: mayBeYaml ? 'no YAML' : 'no JSON', truncated: false };
};
