import { randomInt } from 'node:crypto';
import type { KubeObject } from '../../../api/meta/v1/types.ts';
import { StatusError } from '../../kube/status-error.ts';
import { writeAdmitted } from '../../admission/chain.ts';
import { readBody } from '../body.ts';
import { contextOf } from '../context.ts';
import { bodyMediaType } from '../negotiation.ts';
import { decodeObject, negotiateObject, sendObject, withNamespace } from './object.ts';
import { attributesOf, queryOf, requestSignal, warnerOf, type RequestScope, type VerbHandler } from './scope.ts';
import { requireTypes } from './types.ts';
import { parseWriteOptions } from './write-options.ts';

/** Characters of generated names, without vowels and look-alikes (apimachinery's rand.String). */
const alphabet = 'bcdfghjklmnpqrstvwxz2456789';
const suffixLength = 5;
const maxBaseLength = 63 - suffixLength;
/** Names are drawn anew this often when they are taken (KEP-4420). */
const generateAttempts = 8;

export const create: VerbHandler = async (scope, request, response) => {
  const { requestInfo } = contextOf(response);
  if (requestInfo.name) throw StatusError.methodNotAllowed({ group: scope.kind.group, resource: scope.definition.plural }, 'create');
  const format = negotiateObject(request);
  const mediaType = bodyMediaType(request.headers['content-type']);
  const options = parseWriteOptions(queryOf(request), request.headers['user-agent'], 'CreateOptions');
  const signal = requestSignal(response);
  const decoded = decodeObject(scope, response, await readBody(request), mediaType, options.fieldValidation);
  const object = withoutSystemFields(withNamespace(decoded, requestInfo.namespace));

  for (let attempt = 1; ; attempt += 1) {
    const named = withName(object);
    const attributes = attributesOf(scope, response, 'CREATE', { name: named.metadata.name ?? '', object: named, dryRun: options.dryRun });
    requireName(scope, named);
    await scope.admission.mutate(attributes);
    await requireTypes(scope, attributes.object!, () => scope.store.create(attributes.object!, { ...options, dryRun: true, signal }));
    await scope.admission.validate(attributes);
    try {
      const created = await writeAdmitted(attributes, signal, () => scope.store.create(attributes.object!, { ...options, signal, warn: warnerOf(response) }));
      sendObject(scope, request, response, 201, created, format);
      return;
    } catch (error) {
      const drawn = !object.metadata.name && error instanceof StatusError && error.reason === 'AlreadyExists';
      if (!drawn || attempt >= generateAttempts) throw error;
    }
  }
};

/** What only the server sets, whatever the client sent. */
const withoutSystemFields = (object: KubeObject): KubeObject => {
  const { uid: _uid, creationTimestamp: _created, deletionTimestamp: _deleted, deletionGracePeriodSeconds: _grace, generation: _generation, ...metadata } = object.metadata;
  return { ...object, metadata };
};

const withName = (object: KubeObject): KubeObject => {
  const { name, generateName } = object.metadata;
  if (name || !generateName) return object;
  const suffix = Array.from({ length: suffixLength }, () => alphabet[randomInt(alphabet.length)]).join('');
  return { ...object, metadata: { ...object.metadata, name: generateName.slice(0, maxBaseLength) + suffix } };
};

const requireName = ({ kind }: RequestScope, { metadata }: KubeObject): void => {
  if (metadata.name) return;
  throw StatusError.invalid(kind.group, kind.kind, '', [
    { reason: 'FieldValueRequired', field: 'metadata.name', message: 'Required value: name or generateName is required' },
  ]);
};
