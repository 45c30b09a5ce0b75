import { gunzipSync } from 'node:zlib';
import { parse } from 'yaml';
import { readProtobuf } from './protobuf-reader.ts';
import { withOurGroups } from './sides.ts';
import type { WireAnswer } from './wire.ts';

/** An answer as cases see it: what is in it, in a form whose parts can be compared. */
export interface Answer {
  status: number;
  headers: Record<string, string | string[]>;
  /** Parsed JSON, the objects of a watch, text, or bytes in hexadecimal. */
  body: unknown;
}

/** Headers that clients go by. Of an ETag and an expiry only whether they are there. */
const told = ['content-type', 'retry-after', 'allow', 'location', 'cache-control', 'content-encoding', 'vary', 'sec-websocket-protocol'];
const present = ['etag', 'expires', 'last-modified'];

export const answerOf = ({ status, headers, rawHeaders, bytes, messages }: WireAnswer): Answer => {
  const shown: Answer['headers'] = {};
  for (const name of told) if (headers[name] !== undefined) shown[name] = name === 'cache-control' ? saidOnce(String(headers[name])) : withOurGroups(String(headers[name]));
  for (const name of present) if (headers[name] !== undefined) shown[name] = '<present>';
  const warnings = rawHeaders.filter((_, index) => index % 2 === 1 && rawHeaders[index - 1]!.toLowerCase() === 'warning');
  if (warnings.length > 0) shown.warning = warnings.map(withOurGroups);
  const plain = headers['content-encoding'] === 'gzip' && bytes.length > 0 ? gunzipSync(bytes) : bytes;
  return { status, headers: shown, body: messages ? messages.map(messageOf) : bodyOf(plain, headers['content-type'] ?? '') };
};

/** The kube-apiserver sets this header itself, and adds what an aggregated server sets: clients read the two as one. */
const saidOnce = (text: string): string => [...new Set(text.split(',').map((part) => part.trim()))].join(', ');

const bodyOf = (bytes: Buffer, type: string): unknown => {
  if (type.includes('protobuf')) return JSON.parse(withOurGroups(JSON.stringify(readProtobuf(bytes)))) as unknown;
  if (type.includes('cbor')) return { hex: bytes.toString('hex') };
  const text = withOurGroups(bytes.toString('utf8'));
  if (type.startsWith('application/yaml')) return parse(text) as unknown; // lines are folded and texts quoted as the packages like it
  if (!type.startsWith('application/json')) return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return linesOf(text);
  }
};

/** A WebSocket's message: what it says, and how it came. */
const messageOf = ({ data, binary }: { data: Buffer; binary: boolean }): object =>
  binary ? { binary: JSON.parse(withOurGroups(JSON.stringify(readProtobuf(data)))) as unknown } : { text: JSON.parse(withOurGroups(data.toString())) as unknown, ends: data.at(-1) };

/** The documents of a stream, each a line; what is none stays text. */
const linesOf = (text: string): unknown[] =>
  text.split('\n').filter(Boolean).map((line) => {
    try {
      return JSON.parse(line) as unknown;
    } catch {
      return line;
    }
  });
