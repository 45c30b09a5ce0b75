import assert from 'node:assert/strict';
import { encodeMessage, protoEnvelope, protoMagic, protoMessages, type ProtoField, type ProtoMessage } from '../../pkg/endpoints/protobuf.ts';

/**
 * What protobuf bytes say, by the tables that our encoder goes by. Encoded again it must be the same bytes, so that what the
 * twin sends proves the tables, and what both say can be compared as JSON.
 */
export const readProtobuf = (bytes: Buffer): unknown => {
  if (!bytes.subarray(0, 4).equals(protoMagic)) return readEvents(bytes);
  return readObject(bytes);
};

const readObject = (bytes: Buffer): Record<string, unknown> => {
  assert.deepEqual(bytes.subarray(0, 4), protoMagic);
  const { raw, ...type } = decode(protoEnvelope, bytes.subarray(4)) as { raw: Buffer; kind: string; apiVersion: string };
  const message = protoMessages.get(type.kind);
  if (!message) return { ...type, hex: raw.toString('hex') };
  const value = decode(message, raw);
  assert.equal(encodeMessage(message, value).toString('hex'), raw.toString('hex'), `protobuf of ${type.kind}`);
  return { ...type, ...value };
};

const readEvents = (bytes: Buffer): unknown => {
  if (bytes[0] !== 0) return readEvent(bytes); // a frame of its own has no length before it
  const events: unknown[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = at + 4 + bytes.readUInt32BE(at);
    events.push(readEvent(bytes.subarray(at + 4, end)));
    at = end;
  }
  return events;
};

const readEvent = (bytes: Buffer): unknown => {
  const [type, extension] = readFields(bytes).map(({ content }) => content as Buffer);
  const [object] = readFields(extension!);
  return { type: type!.toString(), object: readObject(object!.content as Buffer) };
};

const decode = (message: ProtoMessage, bytes: Buffer): Record<string, unknown> => {
  const result: Record<string, unknown> = {};
  for (const { number, content } of readFields(bytes)) {
    const field = message.find((candidate) => candidate.number === number);
    assert.ok(field, `a field ${number} that is not known`);
    const value = valueOf(field, content);
    if (field.type === 'labels') result[field.name] = { ...(result[field.name] as object), ...(value as object) };
    else if (field.repeated) result[field.name] = [...((result[field.name] ?? []) as unknown[]), value];
    else if (field.name === '') Object.assign(result, value);
    else result[field.name] = value;
  }
  return result;
};

const valueOf = ({ type }: ProtoField, content: Buffer | bigint): unknown => {
  if (typeof content === 'bigint') return type === 'bool' ? content === 1n : Number(BigInt.asIntN(64, content));
  switch (type) {
    case 'string':
      return content.toString();
    case 'json':
      return JSON.parse(content.toString()) as unknown;
    case 'time': {
      const [seconds] = readFields(content);
      return seconds ? new Date(Number(seconds.content as bigint) * 1000).toISOString().replace('.000Z', 'Z') : '';
    }
    case 'labels': {
      const [key, value] = readFields(content).map((part) => String(part.content as Buffer));
      return { [key!]: value };
    }
    case 'bytes':
      return content;
    default:
      return decode(type as ProtoMessage, content);
  }
};

const readFields = (bytes: Buffer): { number: number; content: Buffer | bigint }[] => {
  const found: { number: number; content: Buffer | bigint }[] = [];
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++]!;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < bytes.length) {
    const key = Number(varint());
    const value = varint(); // or a length
    const isNumber = key % 8 === 0;
    found.push({ number: Math.floor(key / 8), content: isNumber ? value : bytes.subarray(at, at + Number(value)) });
    if (!isNumber) at += Number(value);
  }
  return found;
};
