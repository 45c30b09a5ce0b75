import assert from 'node:assert/strict';
import { describe, it } from 'mocha';
import { parseConfig, type FieldKind } from './config-file.ts';

const fields = new Map<string, FieldKind>([['backend.url', 'text'], ['backend.tls.caFile', 'text'], ['backend.tls.insecureSkipVerify', 'boolean'], ['server.port', 'number'], ['server.names', 'list'], ['logLevel', 'text']]);

describe('parseConfig', () => {
  it('reads fields of every kind', () =>
    assert.deepEqual([...parseConfig('backend: { url: "https://a", tls: { insecureSkipVerify: true } }\nserver:\n  port: 1\n  names: [a, b]\nlogLevel: info', fields)], [
      ['backend.url', 'https://a'], ['backend.tls.insecureSkipVerify', 'true'], ['server.port', '1'], ['server.names', 'a,b'], ['logLevel', 'info'],
    ]));
  it('takes an empty file', () => assert.equal(parseConfig('# nothing', fields).size, 0));
  for (const { text, fault } of [
    { text: 'backend: { tls: { insecureSkip: true } }', fault: /^backend\.tls\.insecureSkip: unknown field; known in backend\.tls are caFile, insecureSkipVerify$/ },
    { text: 'backned: {}', fault: /^backned: unknown field; known in the file are backend, server, logLevel$/ },
    { text: 'backend.url: x', fault: /unknown field "backend\.url": fields are nested/ },
    { text: 'backend: { url: 7 }', fault: /^backend\.url: 7 is not a text$/ },
    { text: 'backend: { url: }', fault: /^backend\.url: null is not a text$/ },
    { text: 'backend: { url: { a: b } }', fault: /^backend\.url: \{"a":"b"\} is not a text$/ },
    { text: 'backend: { tls: { insecureSkipVerify: "true" } }', fault: /is not true or false$/ },
    { text: 'server: { port: -1 }', fault: /^server\.port: -1 is not a whole number$/ },
    { text: 'server: { names: [a, "b,c"] }', fault: /is not a list of texts without commas$/ },
    { text: 'server: []', fault: /^server: must be a mapping of port, names$/ },
    { text: 'logLevel: a\nlogLevel: b', fault: /unique/ },
    { text: 'a: [', fault: /./ },
    { text: 'server: { port: x, names: 1 }', fault: /^server\.port: .*\nserver\.names: / },
  ]) it(`refuses ${text.replaceAll('\n', ' | ')}`, () => assert.throws(() => parseConfig(text, fields), ({ message }: Error) => fault.test(message)));
});
