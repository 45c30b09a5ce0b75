import assert from 'node:assert/strict';
import { describe, it } from 'mocha';
import { hasCode } from '../kube/status-error.ts';
import { bodyMediaType, inputMediaType, negotiate, objectOffer, plainOffer, watchOffer } from './negotiation.ts';

const none = new URLSearchParams();
const chosen = (accept: string | undefined, offer = objectOffer): string => {
  const { mediaType, as } = negotiate(accept, none, undefined, offer);
  return as ? `${mediaType} ${as.kind}/${as.version}` : mediaType;
};
const table = 'application/json;as=Table;v=v1;g=meta.k8s.io';

describe('negotiate', () => {
  for (const [accept, expected] of [
    [undefined, 'application/json'],
    ['*/*', 'application/json'],
    ['application/*', 'application/json'],
    ['application/yaml', 'application/yaml'],
    ['application/vnd.kubernetes.protobuf, application/json', 'application/json'],
    [`${table}, application/json`, 'application/json Table/v1'],
    ['application/json;as=Table;v=v2;g=meta.k8s.io, application/json', 'application/json'],
    ['application/json;as=Other;v=v1;g=meta.k8s.io, application/yaml', 'application/yaml'],
    ['application/json;q=0.1, application/yaml;q=0.9', 'application/yaml'],
    ['*/*;q=0.1, application/yaml', 'application/yaml'],
    ['application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io', 'application/json PartialObjectMetadata/v1'],
  ] as const) {
    it(`${accept ?? '(no Accept)'} → ${expected}`, () => assert.equal(chosen(accept), expected));
  }

  const protobuf = 'application/vnd.kubernetes.protobuf';
  it('offers metadata in protobuf, and nothing else of an object', () => {
    assert.equal(chosen(`${protobuf};as=PartialObjectMetadataList;v=v1;g=meta.k8s.io`), `${protobuf} PartialObjectMetadataList/v1`);
    assert.equal(chosen(protobuf, plainOffer), protobuf);
    for (const accept of [protobuf, `${protobuf};as=Table;v=v1;g=meta.k8s.io`]) assert.throws(() => chosen(accept), (error) => hasCode(error, 406));
  });

  for (const accept of ['text/html', 'application/vnd.kubernetes.protobuf', 'application/cbor', 'nonsense']) {
    it(`${accept} is not acceptable`, () => assert.throws(() => chosen(accept), (error) => hasCode(error, 406)));
  }

  it('streams no YAML', () => assert.throws(() => chosen('application/yaml', watchOffer), (error) => hasCode(error, 406)));

  it('is pretty for people', () => {
    assert.equal(negotiate(undefined, none, 'curl/8', objectOffer).pretty, true);
    assert.equal(negotiate(undefined, new URLSearchParams('pretty=true'), undefined, objectOffer).pretty, true);
    assert.equal(negotiate(undefined, new URLSearchParams('pretty=false'), 'curl/8', objectOffer).pretty, false);
  });
});

describe('inputMediaType', () => {
  it('takes a body without type for JSON', () => assert.equal(bodyMediaType(undefined), 'application/json'));
  it('takes no patch without type', () => assert.throws(() => inputMediaType(undefined, ['application/merge-patch+json']), (error) => hasCode(error, 415)));
  it('ignores parameters and case', () => assert.equal(inputMediaType('Application/JSON; charset=utf-8', ['application/json']), 'application/json'));
  it('refuses others with 415', () => assert.throws(() => inputMediaType('text/plain', ['application/json']), (error) => hasCode(error, 415)));
});
