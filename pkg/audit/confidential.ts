import type { ObjectReference } from './event.ts';
import { isObject, type JsonObject } from '../json/object.ts';

/** Stands in for what must not be recorded. It is valid base64, so that an object still decodes. */
export const redacted = 'redacted';

const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

/**
 * A body as it may be recorded: without what Secrets hold, and without tokens in reviews and requests of tokens. A policy should
 * record such requests at level Metadata; this is for policies that do not. Bodies of other resources are returned as they are.
 */
export const withoutConfidential = (body: unknown, { apiGroup = '', resource = '', subresource = '' }: ObjectReference = {}): unknown => {
  if (apiGroup === '' && resource === 'secrets') return eachObject(body, withoutSecretData);
  if (apiGroup === 'authentication.k8s.io' && resource === 'tokenreviews') return eachObject(body, (object) => withoutField(object, 'spec', 'token'));
  if (apiGroup === '' && resource === 'serviceaccounts' && subresource === 'token') return eachObject(body, (object) => withoutField(object, 'status', 'token'));
  return body;
};

/** Applies a change to an object, to the items of a list, to the objects in a table's rows, and to the operations of a JSON patch. */
const eachObject = (body: unknown, change: (object: JsonObject) => JsonObject): unknown => {
  if (Array.isArray(body)) return body.map((operation) => (isObject(operation) && 'value' in operation ? { ...operation, value: redacted } : operation));
  if (!isObject(body)) return body;
  if (body.kind === 'Status') return body;
  if (Array.isArray(body.items)) return { ...body, items: body.items.map((item) => eachObject(item, change)) };
  // cells of a Secret's row are its name, type, number of keys and age
  if (Array.isArray(body.rows)) return { ...body, rows: body.rows.map((row: unknown) => (isObject(row) && row.object !== undefined ? { ...row, object: eachObject(row.object, change) } : row)) };
  return change(body);
};

const withoutSecretData = (secret: JsonObject): JsonObject => {
  const metadata = isObject(secret.metadata) ? secret.metadata : undefined;
  const annotations = isObject(metadata?.annotations) ? metadata.annotations : undefined;
  return {
    ...secret,
    ...(annotations?.[lastApplied] !== undefined && { metadata: { ...metadata, annotations: { ...annotations, [lastApplied]: redacted } } }),
    ...('data' in secret && { data: redactedValues(secret.data) }),
    ...('stringData' in secret && { stringData: redactedValues(secret.stringData) }),
  };
};

const redactedValues = (data: unknown): unknown => {
  if (data === null) return data;
  return isObject(data) ? Object.fromEntries(Object.entries(data).map(([key, value]) => [key, value === null ? value : redacted])) : redacted;
};

const withoutField = (object: JsonObject, part: string, field: string): JsonObject => {
  const inner = object[part];
  return isObject(inner) && field in inner ? { ...object, [part]: { ...inner, [field]: redacted } } : object;
};
