import tls, { type ConnectionOptions, type TLSSocket } from 'node:tls';
import { once } from 'node:events';

/** HTTP/2 as bytes (RFC 9113), for peers that do what no client library does. */
export const frameType = { data: 0, headers: 1, priority: 2, rstStream: 3, settings: 4, ping: 6, goaway: 7, windowUpdate: 8, continuation: 9 } as const;
export const endStream = 0x1;
export const endHeaders = 0x4;
const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');

export const frame = (type: number, flags: number, stream: number, payload: Buffer = Buffer.alloc(0)): Buffer => {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
};

export const uint32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};

/** A header block (RFC 7541) of literal fields that are never indexed, in the order given. */
export const headerBlock = (...fields: readonly (readonly [name: string, value: string])[]): Buffer =>
  Buffer.concat(fields.flatMap(([name, value]) => [Buffer.from([0x10]), text(name), text(value)]));

const text = (value: string): Buffer => {
  const bytes = Buffer.from(value, 'latin1');
  if (bytes.length < 127) return Buffer.concat([Buffer.from([bytes.length]), bytes]);
  const length = [127];
  let rest = bytes.length - 127;
  for (; rest >= 128; rest >>= 7) length.push((rest & 127) | 128);
  return Buffer.concat([Buffer.from([...length, rest]), bytes]);
};

/** A stream's HEADERS, in as many CONTINUATION frames as it takes. */
export const headersFrames = (stream: number, block: Buffer, flags = endStream): Buffer => {
  const most = 16_384;
  const parts: Buffer[] = [];
  for (let at = 0; at === 0 || at < block.length; at += most) {
    const last = at + most >= block.length ? endHeaders : 0;
    parts.push(frame(at === 0 ? frameType.headers : frameType.continuation, (at === 0 ? flags : 0) | last, stream, block.subarray(at, at + most)));
  }
  return Buffer.concat(parts);
};

export interface ReceivedFrame {
  type: number;
  flags: number;
  stream: number;
  payload: Buffer;
}

/** A peer that writes bytes, and reads frames. */
export class RawPeer {
  readonly socket: TLSSocket;
  readonly frames: ReceivedFrame[] = [];
  #rest = Buffer.alloc(0);

  static async connect(options: ConnectionOptions): Promise<RawPeer> {
    const socket = tls.connect({ ...options, ALPNProtocols: ['h2'] });
    socket.on('error', () => undefined);
    await once(socket, 'secureConnect');
    const peer = new RawPeer(socket);
    socket.write(Buffer.concat([preface, frame(frameType.settings, 0, 0)]));
    return peer;
  }

  private constructor(socket: TLSSocket) {
    this.socket = socket;
    socket.on('data', (chunk: Buffer) => this.#read(chunk));
  }

  /** Writes, and waits while the peer does not read. @returns false once the connection is over */
  async write(bytes: Buffer): Promise<boolean> {
    if (this.socket.destroyed || !this.socket.writable) return false;
    if (!this.socket.write(bytes)) await Promise.race([once(this.socket, 'drain'), once(this.socket, 'close')]).catch(() => undefined);
    return !this.socket.destroyed;
  }

  /** The error code of the GOAWAY that ended the session, if one came. */
  get goawayCode(): number | undefined {
    return this.frames.findLast(({ type }) => type === frameType.goaway)?.payload.readUInt32BE(4);
  }

  #read(chunk: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, chunk]);
    while (this.#rest.length >= 9) {
      const length = this.#rest.readUIntBE(0, 3);
      if (this.#rest.length < 9 + length) return;
      this.frames.push({ type: this.#rest[3]!, flags: this.#rest[4]!, stream: this.#rest.readUInt32BE(5), payload: this.#rest.subarray(9, 9 + length) });
      this.#rest = this.#rest.subarray(9 + length);
    }
  }
}
