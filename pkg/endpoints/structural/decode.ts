import type { GroupVersionKind } from '../../../api/meta/v1/types.ts';
import { StatusError } from '../../kube/status-error.ts';
import { JsonSyntaxError, scanJson } from './json-scan.ts';
import { quote } from './quote.ts';
import { isObject, type JsonObject } from '../../json/object.ts';
import { parseYaml } from './yaml.ts';

export interface Decoded {
  value: JsonObject;
  /** Keys that occur twice, as strict decoding words them: `duplicate field "spec.host"`, or one text of several lines for YAML. */
  duplicateFields: string[];
}

export interface DecodeOptions {
  /** The kind that the path of the request names: what the body is expected to be. */
  expected: GroupVersionKind;
  /** Whether fieldValidation is Strict or Warn: duplicate keys are reported. */
  strict: boolean;
}

/**
 * Reads the body of a create or an update. The last of duplicate keys wins. Keys such as `__proto__` are plain keys.
 * Whole numbers beyond 2^53 lose precision, which the kube-apiserver keeps up to 2^63.
 * @throws StatusError 400 with the kube-apiserver's message for a custom resource, where the body is malformed, nested deeper
 *   than 1,000, no object, or has no kind
 */
export const decodeBody = (bytes: Buffer, mediaType: 'application/json' | 'application/yaml', { expected, strict }: DecodeOptions): Decoded => {
  const unrecognized = (why: string): StatusError =>
    StatusError.badRequest(`the object provided is unrecognized (must be of type ${expected.kind}): ${why} (${summary(bytes)})`);
  const { value, duplicateFields, overflow } = parse(bytes, mediaType, unrecognized);

  if (!isObject(value) && value !== null) {
    throw unrecognized(notTyped(value));
  }
  const textField = (field: string): string => {
    const text = (value ?? {})[field] ?? '';
    if (typeof text !== 'string') throw unrecognized(`${noKind}json: cannot unmarshal ${jsonTypeOf(text)} into Go struct field .${field} of type string`);
    return text;
  };
  const apiVersion = textField('apiVersion');
  const kind = textField('kind');
  if (apiVersion.split('/').length > 2) throw unrecognized(`unexpected GroupVersion string: ${apiVersion}`);

  if (overflow !== undefined) {
    throw cannotBeHandled({ apiVersion: gvkText(apiVersion, expected), kind: kind || expected.kind }, `json: cannot unmarshal number ${overflow} into Go value of type float64`);
  }
  if (!value || !kind) {
    const missing = `Object 'Kind' is missing in '${bytes.toString()}'`;
    // The strict decoder names no version: it stops at the body that it was given.
    throw strict ? unrecognized(missing) : cannotBeHandled({ apiVersion: gvkText(apiVersion, expected), kind: expected.kind }, missing);
  }
  return { value, duplicateFields: strict ? duplicateFields : [] };
};

/** The 400 of a body that has a kind and yet cannot be read. Kubernetes names the body's own kind twice, not the expected one. */
export const cannotBeHandled = (value: JsonObject, why: string): StatusError => {
  const [kind, apiVersion] = [value['kind'] as string, (value['apiVersion'] ?? '') as string];
  const version = apiVersion.split('/').at(-1) ?? '';
  if (version === '') return StatusError.badRequest("Object 'apiVersion' is missing in 'object has no apiVersion field'");
  return StatusError.badRequest(`${kind} in version ${quote(version)} cannot be handled as a ${kind}: ${why}`);
};

export const noKind = "couldn't get version/kind; json parse error: ";
const typeMetaStruct = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';

/** Why a body that is no object has no type. */
export const notTyped = (value: unknown): string => `${noKind}json: cannot unmarshal ${jsonTypeOf(value)} into Go value of type ${typeMetaStruct}`;

/** The apiVersion that a body without one counts as. */
const gvkText = (apiVersion: string, { group, version }: GroupVersionKind): string =>
  apiVersion === '' || apiVersion === `${group}/` ? `${group}/${version}` : apiVersion;

const parse = (
  bytes: Buffer,
  mediaType: 'application/json' | 'application/yaml',
  unrecognized: (why: string) => StatusError,
): { value: unknown; duplicateFields: string[]; overflow?: string | undefined } => {
  if (mediaType === 'application/yaml') {
    const { value, duplicates, error } = parseYaml(bytes);
    if (error !== undefined) throw unrecognized(error);
    return { value, duplicateFields: duplicates };
  }
  try {
    const { duplicates, overflow } = scanJson(bytes);
    return { value: parseJson(bytes), duplicateFields: duplicates, overflow };
  } catch (error) {
    if (error instanceof JsonSyntaxError) throw unrecognized(noKind + error.message);
    throw error;
  }
};

const parseJson = (bytes: Buffer): unknown => {
  const text = bytes.toString();
  // Half a surrogate pair cannot be encoded again; Kubernetes reads it as U+FFFD.
  if (!/\\u[dD][89a-fA-F]/.test(text)) return JSON.parse(text);
  return JSON.parse(text, (_key, part: unknown) => (typeof part === 'string' ? part.toWellFormed() : part));
};

export const jsonTypeOf = (value: unknown): string => (Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value);

/** The first 30 bytes of a body, in hexadecimal where it does not look like JSON. */
const summary = (bytes: Buffer): string => {
  if (bytes.length === 0) return '<empty>';
  const shown = bytes.subarray(0, 30).toString(bytes[0] === 0x7b ? 'utf8' : 'hex');
  return bytes.length > 30 ? `${shown} ...` : shown;
};
