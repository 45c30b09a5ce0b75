import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { StatusError } from '../../kube/status-error.ts';
import { decodeBody } from './decode.ts';
import { maxDepth, scanJson } from './json-scan.ts';
import { strictErrorMessage, strictWarnings, patchResultError } from './strict.ts';

const expected = { group: 'apps.cozystack.io', version: 'v1alpha1', kind: 'Tenant' };
const json = (body: string, strict = true) => decodeBody(Buffer.from(body), 'application/json', { expected, strict });
const yaml = (body: string, strict = true) => decodeBody(Buffer.from(body), 'application/yaml', { expected, strict });
const head = '{"apiVersion":"apps.cozystack.io/v1alpha1","kind":"Tenant"';

describe('scanJson', () => {
  it('accepts exactly what JSON.parse accepts', () =>
    fc.assert(fc.property(fc.oneof(fc.json(), fc.string({ unit: fc.constantFrom('{', '}', '[', ']', '"', 'a', ':', ',', '1', '-', '.', 'e', '\\', 'u', ' ', 'true', 'null') })), (text) => {
      const accepts = (parse: () => unknown): boolean => {
        try {
          parse();
          return true;
        } catch {
          return false;
        }
      };
      assert.equal(accepts(() => scanJson(Buffer.from(text))), accepts(() => JSON.parse(text)), text);
    }), { numRuns: 2000 }));
  for (const [text, message] of [
    ['', 'unexpected end of JSON input'],
    ['{', 'unexpected end of JSON input'],
    ['{"a"', 'unexpected end of JSON input'],
    ['{"a" 1}', "invalid character '1' after object key"],
    ['{"a":1 "b"}', `invalid character '"' after object key:value pair`],
    ['{"a":1,}', "invalid character '}' looking for beginning of object key string"],
    ['[1 2]', "invalid character '2' after array element"],
    ['{a:1}', "invalid character 'a' looking for beginning of object key string"],
    ['{} {', "invalid character '{' after top-level value"],
    ['nul', 'unexpected end of JSON input'],
    ['nule', "invalid character 'e' in literal null (expecting 'l')"],
    ['{"a":"\n"}', "invalid character '\\n' in string literal"],
    ['"\\x"', "invalid character 'x' in string escape code"],
    ['"\\u12g4"', "invalid character 'g' in \\u hexadecimal character escape"],
    ['-x', "invalid character 'x' in numeric literal"],
    ['1.x', "invalid character 'x' after decimal point in numeric literal"],
    ['1ex', "invalid character 'x' in exponent of numeric literal"],
    ['01', "invalid character '1' after top-level value"],
    ["{'a':1}", "invalid character '\\'' looking for beginning of object key string"],
  ] as const) it(`says of ${text}: ${message}`, () => assert.throws(() => scanJson(Buffer.from(text)), { message }));
  for (const [text, paths] of [
    ['{"a":1,"b":{"c":1,"c":2,"c":3},"a":2}', ['b.c', 'a']],
    ['{"l":[{"x":1},{"x":1,"x":2}]}', ['l[1].x']],
    ['{"a\\u0062":1,"ab":2}', ['ab']],
    ['[[{"k":1,"k":1}]]', ['[0][0].k']],
    ['{"__proto__":1,"__proto__":2}', ['__proto__']],
    ['{"a":1,"b":{"a":1}}', []],
  ] as const) it(`finds duplicates in ${text}`, () => assert.deepEqual(scanJson(Buffer.from(text)).duplicates, paths.map((path) => `duplicate field "${path}"`)));
});

describe('decodeBody', () => {
  it('keeps the last of duplicate keys and names them', () =>
    assert.deepEqual(json(`${head},"spec":{"host":"a","host":"b"}}`), {
      value: { apiVersion: 'apps.cozystack.io/v1alpha1', kind: 'Tenant', spec: { host: 'b' } },
      duplicateFields: ['duplicate field "spec.host"'],
    }));
  it('does not look for them where nobody asks', () => assert.deepEqual(json(`${head},"a":1,"a":2}`, false).duplicateFields, []));
  it('leaves __proto__ a plain key', () => {
    const { value } = json(`${head},"__proto__":{"polluted":true}}`);
    assert.equal((value as { polluted?: boolean }).polluted, undefined);
    assert.ok(Object.hasOwn(value, '__proto__'));
  });
  it('reads half a surrogate pair as U+FFFD', () => assert.equal(json(`${head},"x":"\\ud800"}`).value['x'], '\ufffd'));

  const unrecognized = 'the object provided is unrecognized (must be of type Tenant): ';
  const noKind = "couldn't get version/kind; json parse error: ";
  for (const { body, strict, message } of [
    { body: '', message: `${unrecognized}${noKind}unexpected end of JSON input (<empty>)` },
    { body: '{"kind":', message: `${unrecognized}${noKind}unexpected end of JSON input ({"kind":)` },
    { body: 'nothing of the kind, but a longer text', message: `${unrecognized}${noKind}invalid character 'o' in literal null (expecting 'u') (6e6f7468696e67206f6620746865206b696e642c206275742061206c6f6e ...)` },
    { body: '{"kind":5}', message: `${unrecognized}${noKind}json: cannot unmarshal number into Go struct field .kind of type string ({"kind":5})` },
    { body: '[]', message: `${unrecognized}${noKind}json: cannot unmarshal array into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" } (5b5d)` },
    { body: '{}', message: "the object provided is unrecognized (must be of type Tenant): Object 'Kind' is missing in '{}' ({})" },
    { body: '{}', strict: false, message: `Tenant in version "v1alpha1" cannot be handled as a Tenant: Object 'Kind' is missing in '{}'` },
    { body: 'null', message: "the object provided is unrecognized (must be of type Tenant): Object 'Kind' is missing in 'null' (6e756c6c)" },
    { body: '{"kind":"Tenant","apiVersion":"a/b/c"}', message: `${unrecognized}unexpected GroupVersion string: a/b/c ({"kind":"Tenant","apiVersion": ...)` },
    { body: '{"kind":"Tenant","x":1e999}', message: 'Tenant in version "v1alpha1" cannot be handled as a Tenant: json: cannot unmarshal number 1e999 into Go value of type float64' },
  ]) {
    it(`refuses ${body || 'nothing'}`, () =>
      assert.throws(() => json(body, strict ?? true), (error) => error instanceof StatusError && error.code === 400 && assert.equal(error.message, message) === undefined));
  }
  it('refuses what is nested too deep, and takes the rest', () => {
    const nested = (depth: number) => `${head},"x":${'['.repeat(depth)}${']'.repeat(depth)}}`;
    assert.ok(json(nested(maxDepth - 1)));
    assert.throws(() => json(nested(maxDepth)), /exceeded max depth/);
    assert.throws(() => json(nested(1_000_000)), /exceeded max depth/);
    assert.throws(() => yaml(`kind: Tenant\nx: ${'['.repeat(100_000)}`), StatusError);
  }).timeout(20_000);

  it('reads YAML 1.1 as Kubernetes does', () =>
    assert.deepEqual(yaml('kind: Tenant\napiVersion: v\non: yes\noctal: 0777\ndate: 2001-01-01\ntime: 1:30\nbase: &b {x: 1}\nmerged:\n  <<: *b\n  z: 2\n1: one\n').value, {
      kind: 'Tenant', apiVersion: 'v', true: true, octal: 511, date: '2001-01-01', time: '1:30', base: { x: 1 }, merged: { x: 1, z: 2 }, 1: 'one',
    }));
  it('reads JSON and the first document of several', () => {
    assert.deepEqual(yaml(`${head}}`).value, { apiVersion: 'apps.cozystack.io/v1alpha1', kind: 'Tenant' });
    assert.deepEqual(yaml('# c\n---\nkind: Tenant\n---\nkind: [\n').value, { kind: 'Tenant' });
  });
  it('names duplicate keys of YAML by line', () =>
    assert.deepEqual(yaml('kind: Tenant\nspec:\n  host: a\n  host: b\nkind: Tenant\n').duplicateFields, ['yaml: unmarshal errors:\n  line 4: key "host" already set in map\n  line 5: key "kind" already set in map']));
  for (const body of ['a: [', 'a: b: c', '\t- x', '? [a]: b', '&a [*a, *a]', `a: &a [x]\nb: &b [${'*a,'.repeat(200)}]\nc: [${'*b,'.repeat(200)}]`, '"x', '!!binary x', '- '.repeat(100_000), 'a: '.repeat(100_000), 'x'.repeat(300_000)]) {
    it(`answers 400 to ${JSON.stringify(body.slice(0, 20))}`, () => assert.throws(() => yaml(body), (error) => error instanceof StatusError && error.code === 400));
  }
});

describe('strict decoding', () => {
  it('lists duplicates, then unknown fields', () =>
    assert.equal(strictErrorMessage(['spec.foo'], ['duplicate field "spec.host"']), 'strict decoding error: duplicate field "spec.host", unknown field "spec.foo"'));
  it('says nothing where there is nothing', () => assert.equal(strictErrorMessage([], []), ''));
  it('warns once a violation', () =>
    assert.deepEqual(strictWarnings(['spec.foo'], ['yaml: unmarshal errors:\n  line 4: key "a" already set in map\n  line 5: key "b" already set in map']), [
      'line 4: key "a" already set in map', 'line 5: key "b" already set in map', 'unknown field "spec.foo"',
    ]));
  it('shows the patched object where a patch breaks it', () =>
    assert.equal(patchResultError('{"a":1}', 'no').message, ' "" is invalid: patch: Invalid value: "{\\"a\\":1}": no'));
});
