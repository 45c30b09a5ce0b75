import { promisify } from 'node:util';
import { constants, crc32, deflateRaw } from 'node:zlib';

const deflate = promisify(deflateRaw);

/**
 * A compressed part of a gzip stream (RFC 1952) that can stand beside any other: it ends on a byte boundary and refers to
 * nothing before it. Whole gzip members would be simpler to join, but curl reads only the first.
 */
export interface GzipPiece {
  deflated: Buffer;
  crc: number;
  /** Bytes before compression. */
  length: number;
}

export const deflatePiece = async (bytes: Buffer): Promise<GzipPiece> => {
  const deflated = await deflate(bytes, { level: 1, finishFlush: constants.Z_FULL_FLUSH });
  const exact = Buffer.allocUnsafeSlow(deflated.length); // zlib's own is part of a larger one
  deflated.copy(exact);
  return { deflated: exact, crc: crc32(bytes), length: bytes.length };
};

const header = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 255]);
const finalBlock = [3, 0];

/** One gzip member that holds the pieces, in parts. */
export const gzipParts = (pieces: readonly GzipPiece[]): Buffer[] => {
  let crc = 0;
  let length = 0;
  for (const piece of pieces) {
    crc = combinedCrc(crc, piece.crc, piece.length);
    length += piece.length;
  }
  const trailer = Buffer.from([...finalBlock, 0, 0, 0, 0, 0, 0, 0, 0]);
  trailer.writeUInt32LE(crc, 2);
  trailer.writeUInt32LE(length % 2 ** 32, 6);
  return [header, ...pieces.map(({ deflated }) => deflated), trailer];
};

/** The CRC of two stretches of bytes from the CRC of each: the first is moved on by as many zero bits as the second has. */
export const combinedCrc = (first: number, second: number, secondLength: number): number => (times(zeros(secondLength), first) ^ second) >>> 0;

const polynomial = 0xedb88320;

/** Product of two polynomials over GF(2) modulo the CRC's, bits reflected: bit 31 is x^0. */
const times = (a: number, b: number): number => {
  let product = 0;
  for (let bit = 0x80000000; bit !== 0; bit >>>= 1) {
    if (a & bit) product ^= b;
    b = b & 1 ? (b >>> 1) ^ polynomial : b >>> 1;
  }
  return product >>> 0;
};

/** x^(8·bytes) modulo the CRC's polynomial, by squaring. */
const zeros = (bytes: number): number => {
  let power = 0x80000000; // x^0
  let square = 0x00800000; // x^8
  for (let left = bytes; left > 0; left = Math.floor(left / 2)) {
    if (left % 2 === 1) power = times(square, power);
    square = times(square, square);
  }
  return power;
};
