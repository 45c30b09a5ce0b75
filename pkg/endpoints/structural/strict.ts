import { StatusError } from '../../kube/status-error.ts';
import { cannotBeHandled } from './decode.ts';
import { quote } from './quote.ts';
import type { JsonObject } from '../../json/object.ts';

/** Every violation as strict decoding words it, in Kubernetes' order: duplicates as they were met, then unknown fields. */
const violations = (unknownFields: readonly string[], duplicateFields: readonly string[]): string[] => [
  ...duplicateFields,
  ...unknownFields.map((path) => `unknown field "${path}"`),
];

/** `strict decoding error: duplicate field "spec.host", unknown field "spec.foo"`; empty where there is nothing to say. */
export const strictErrorMessage = (unknownFields: readonly string[], duplicateFields: readonly string[]): string => {
  const found = violations(unknownFields, duplicateFields);
  return found.length === 0 ? '' : `strict decoding error: ${found.join(', ')}`;
};

/** The texts of the Warning headers that fieldValidation=Warn gives, one a violation. */
export const strictWarnings = (unknownFields: readonly string[], duplicateFields: readonly string[]): string[] =>
  violations(unknownFields, duplicateFields).flatMap((text) => {
    const yaml = /^(?:yaml: unmarshal errors:\n|error converting YAML to JSON: yaml: unmarshal errors:\n)/.exec(text);
    return yaml ? text.slice(yaml[0].length).split('\n').map((line) => line.trim()) : [text];
  });

/** The 400 of a create or an update that fieldValidation=Strict refuses: `Tenant in version "v1alpha1" cannot be handled as a Tenant: …`. */
export const strictBodyError = (value: JsonObject, message: string): StatusError => cannotBeHandled(value, message);

/**
 * The 422 of a JSON or merge patch whose result cannot be decoded, or which fieldValidation=Strict refuses.
 * @param patched the patched object as compact JSON with sorted keys
 */
export const patchResultError = (patched: string, message: string): StatusError => {
  const cause = { reason: 'FieldValueInvalid', message: `Invalid value: ${quote(patched)}: ${message}`, field: 'patch' };
  return new StatusError(422, 'Invalid', ` "" is invalid: patch: ${cause.message}`, { causes: [cause] });
};
