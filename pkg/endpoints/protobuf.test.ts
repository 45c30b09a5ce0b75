import { describe, it } from 'mocha';
import assert from 'node:assert/strict';
import { hasCode, StatusError } from '../kube/status-error.ts';
import { encodeProtobuf, encodeProtobufEvent } from './protobuf.ts';

/** As a kube-apiserver wrote them. */
const known = {
  status:
    '6b3873000a0c0a02763112065374617475731299010a060a0012001a0012074661696c7572651a746f6e6c792074686520666f6c6c6f77696e67206d65646961207479706573206172652061636365707465643a206170706c69636174696f6e2f6a736f6e2c206170706c69636174696f6e2f79616d6c2c206170706c69636174696f6e2f766e642e6b756265726e657465732e70726f746f627566220d4e6f7441636365707461626c653096031a002200',
};

describe('protobuf', () => {
  it('writes a Status as the kube-apiserver does', () => {
    const { status } = new StatusError(406, 'NotAcceptable', 'only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf');
    assert.equal(encodeProtobuf(status).toString('hex'), known.status);
  });

  it('writes the metadata of an object, maps in order', () => {
    const metadata = { name: 'a', creationTimestamp: '1970-01-01T00:00:01Z', labels: { b: '2', a: '1' }, finalizers: ['f'] };
    const bytes = encodeProtobuf({ apiVersion: 'meta.k8s.io/v1', kind: 'PartialObjectMetadata', metadata } as never).toString('latin1');
    assert.ok(bytes.includes('\n\x01a\x12\x00\x1a\x00"\x00*\x002\x008\x00B\x04\x08\x01\x10\x00'), 'empty fields are there');
    assert.ok(bytes.indexOf('\n\x01a\x12\x011') < bytes.indexOf('\n\x01b\x12\x012'));
  });

  it('puts the length of an event before it', () => {
    const event = encodeProtobufEvent('ADDED', { apiVersion: 'meta.k8s.io/v1', kind: 'PartialObjectMetadata', metadata: {} } as never);
    assert.equal(event.readUInt32BE(0), event.length - 4);
    assert.equal(event.subarray(4, 11).toString('latin1'), '\n\x05ADDED');
  });

  it('refuses what has no such form', () => assert.throws(() => encodeProtobuf({ apiVersion: 'v1', kind: 'Other' }), (error) => hasCode(error, 406)));
});
