import { once } from 'node:events';
import tls from 'node:tls';
import type { KeyPair } from '../../pkg/server/certificates.ts';
import { endStream, frame, frameType, headerBlock, headersFrames, RawPeer, type ReceivedFrame } from '../../pkg/server/http2-frames-fixture.ts';
import { eventually } from '../poll.ts';

/** A server, by where it listens. Nothing is known of its certificate. */
export interface Address {
  host: string;
  port: number;
}

/** What came of bytes that were sent: an answer, or the end of the stream or connection without one. */
export type Outcome = { status: number; body: string } | 'reset';

const waitMs = 20_000;

/** Writes bytes, and reads the first answer that comes. */
export const overHttp1 = async (address: Address, keyPair: KeyPair | undefined, bytes: Buffer): Promise<Outcome> => {
  const socket = tls.connect({ ...address, rejectUnauthorized: false, ALPNProtocols: ['http/1.1'], ...certificateOf(keyPair) });
  socket.on('error', () => undefined);
  let received = Buffer.alloc(0);
  socket.on('data', (chunk: Buffer) => (received = Buffer.concat([received, chunk])));
  await once(socket, 'secureConnect');
  socket.write(bytes);
  try {
    return await eventually('an answer', () => answerIn(received) ?? (socket.destroyed || socket.readableEnded ? 'reset' : undefined), { withinMs: waitMs, everyMs: 5 });
  } finally {
    socket.destroy();
  }
};

const answerIn = (received: Buffer): Outcome | undefined => {
  const end = received.indexOf('\r\n\r\n');
  if (end === -1) return undefined;
  const head = received.subarray(0, end).toString('latin1');
  const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(head)?.[1]);
  const length = Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0);
  const body = received.subarray(end + 4);
  return body.length < length ? undefined : { status, body: body.toString('utf8') };
};

export type Fields = readonly (readonly [name: string, value: string])[];

/** Sends a stream's headers as they are, legal or not, and reads what comes of the stream. */
export const overHttp2 = async (address: Address, keyPair: KeyPair | undefined, fields: Fields, body?: Buffer): Promise<Outcome> => {
  const peer = await RawPeer.connect({ ...address, rejectUnauthorized: false, ...certificateOf(keyPair) });
  const data = body ? frame(frameType.data, endStream, 1, body) : Buffer.alloc(0);
  await peer.write(Buffer.concat([headersFrames(1, headerBlock(...fields), body ? 0 : endStream), data]));
  try {
    return await eventually('an answer', () => outcomeIn(peer.frames) ?? (peer.socket.destroyed ? 'reset' : undefined), { withinMs: waitMs, everyMs: 5 });
  } finally {
    peer.socket.destroy();
  }
};

const outcomeIn = (frames: readonly ReceivedFrame[]): Outcome | undefined => {
  const ours = frames.filter(({ stream }) => stream === 1);
  const head = ours.find(({ type }) => type === frameType.headers);
  if (!head) return frames.some(({ type, stream }) => (type === frameType.rstStream && stream === 1) || type === frameType.goaway) ? 'reset' : undefined;
  const isOver = ours.some(({ type, flags }) => type === frameType.rstStream || ((type === frameType.data || type === frameType.headers) && (flags & endStream) !== 0));
  if (!isOver) return undefined;
  const body = Buffer.concat(ours.filter(({ type }) => type === frameType.data).map(({ payload }) => payload));
  return { status: statusOf(head.payload), body: body.toString('utf8') };
};

/** `:status` in RFC 7541's static table, from index 8 on. */
const indexed = [200, 204, 206, 304, 400, 404, 500];
/** Bits of the digits in RFC 7541's code. */
const digits = new Map(['00000', '00001', '00010', '011001', '011010', '011011', '011100', '011101', '011110', '011111'].map((bits, digit) => [bits, digit]));

/** The status, which always comes first in a header block. */
const statusOf = (block: Buffer): number => {
  const at = (block[0]! & 0xe0) === 0x20 ? 1 : 0; // past a change of the table's size
  const first = block[at]!;
  if (first >= 0x88 && first <= 0x8e) return indexed[first - 0x88]!;
  const length = block[at + 1]! & 0x7f;
  const value = block.subarray(at + 2, at + 2 + length);
  if ((block[at + 1]! & 0x80) === 0) return Number(value.toString('latin1'));
  let bits = '';
  let text = '';
  for (const bit of [...value].map((byte) => byte.toString(2).padStart(8, '0')).join('')) {
    bits += bit;
    const digit = digits.get(bits);
    if (digit === undefined || text.length === 3) continue;
    text += digit;
    bits = '';
  }
  return Number(text);
};

const certificateOf = (keyPair: KeyPair | undefined): { cert?: string; key?: string } => (keyPair ? { cert: keyPair.certPem, key: keyPair.keyPem } : {});
