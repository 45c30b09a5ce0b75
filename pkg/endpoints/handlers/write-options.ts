import type { DeleteOptions, StatusCause } from '../../../api/meta/v1/types.ts';
import { StatusError } from '../../kube/status-error.ts';
import { jsonTypeOf } from '../structural/decode.ts';
import { quote } from '../structural/quote.ts';
import { isObject } from '../../json/object.ts';
import type { FieldValidation, WriteOptions } from '../../storage/store.ts';

export interface ParsedWriteOptions extends WriteOptions {
  dryRun: boolean;
  fieldManager: string;
  fieldValidation: FieldValidation;
  force?: boolean;
}

type OptionsKind = 'CreateOptions' | 'UpdateOptions' | 'PatchOptions';

const maxManagerLength = 128;

/**
 * Reads the options of a create, update or patch. The field manager is the User-Agent's first part where it is not given.
 * @throws StatusError 422 with a cause a fault
 */
export const parseWriteOptions = (query: URLSearchParams, userAgent: string | undefined, kind: OptionsKind, apply = false): ParsedWriteOptions => {
  const causes: Required<StatusCause>[] = [];
  const dryRun = query.getAll('dryRun');
  const fieldManager = query.get('fieldManager') ?? '';
  const fieldValidation = query.get('fieldValidation') ?? '';
  const force = query.get('force');
  if (kind === 'PatchOptions') {
    if (apply && fieldManager === '') causes.push({ reason: 'FieldValueRequired', field: 'fieldManager', message: 'Required value: is required for apply patch' });
    if (!apply && force !== null) causes.push({ reason: 'FieldValueForbidden', field: 'force', message: 'Forbidden: may not be specified for non-apply patch' });
  }
  causes.push(...managerFaults(fieldManager), ...dryRunFaults(dryRun));
  if (!['', 'Strict', 'Warn', 'Ignore'].includes(fieldValidation)) {
    causes.push(unsupported('fieldValidation', JSON.stringify(fieldValidation), ['', 'Ignore', 'Strict', 'Warn']));
  }
  if (causes.length > 0) throw StatusError.invalid('meta.k8s.io', kind, '', causes);
  return {
    dryRun: dryRun.length > 0,
    fieldManager: fieldManager || managerOf(userAgent),
    fieldValidation: (fieldValidation || 'Warn') as FieldValidation,
    ...(apply && { force: booleanOption(force) ?? false }),
  };
};

const unsupported = (field: string, shown: string, values: string[]): Required<StatusCause> => ({
  reason: 'FieldValueNotSupported',
  field,
  message: `Unsupported value: ${shown}: supported values: ${values.map((text) => JSON.stringify(text)).join(', ')}`,
});

const managerFaults = (manager: string): Required<StatusCause>[] => {
  if (manager.length > maxManagerLength) {
    return [{ reason: 'FieldValueTooLong', field: 'fieldManager', message: `Too long: may not be more than ${maxManagerLength} bytes` }];
  }
  const at = manager.search(/\p{C}/u);
  if (at < 0) return [];
  const code = manager.codePointAt(at)!.toString(16).toUpperCase().padStart(4, '0');
  const position = Buffer.byteLength(manager.slice(0, at));
  return [{ reason: 'FieldValueInvalid', field: 'fieldManager', message: `Invalid value: ${quote(manager)}: invalid character U+${code} (at position ${position})` }];
};

const dryRunFaults = (dryRun: readonly string[]): Required<StatusCause>[] =>
  dryRun.every((value) => value === 'All') ? [] : [unsupported('dryRun', JSON.stringify(dryRun), ['All'])];

const managerOf = (userAgent = ''): string => userAgent.split('/')[0]!.replaceAll(/\p{C}/gu, '').slice(0, maxManagerLength) || 'unknown';

/** As Kubernetes reads a query: everything but `0` and `false` is true, also no value at all. */
export const booleanOption = (value: string | null | undefined): boolean | undefined =>
  value === null || value === undefined ? undefined : value !== '0' && value.toLowerCase() !== 'false';

/** @throws StatusError 400 */
export const integerOption = (value: string | null | undefined): number | undefined => {
  if (value === null || value === undefined || value === '') return undefined;
  const why = !/^[-+]?\d+$/.test(value) ? 'invalid syntax' : BigInt.asIntN(64, BigInt(value)) !== BigInt(value) ? 'value out of range' : '';
  if (why) throw StatusError.badRequest(`strconv.ParseInt: parsing ${quote(value)}: ${why}`);
  return Number(value);
};

/** DeleteOptions from the query, where the request has no body. */
export const deleteOptionsOf = (query: URLSearchParams): DeleteOptions => {
  const dryRun = query.getAll('dryRun');
  const gracePeriodSeconds = integerOption(query.get('gracePeriodSeconds'));
  const orphanDependents = booleanOption(query.get('orphanDependents'));
  const propagationPolicy = query.get('propagationPolicy') ?? undefined;
  const [uid, resourceVersion] = [query.get('uid'), query.get('resourceVersion')];
  return {
    ...((uid || resourceVersion) && { preconditions: { ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) } }),
    ...(dryRun.length > 0 && { dryRun }),
    ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }),
    ...(orphanDependents !== undefined && { orphanDependents }),
    ...(propagationPolicy !== undefined && { propagationPolicy: propagationPolicy as DeleteOptions['propagationPolicy'] }),
  };
};

/** The type of each field of DeleteOptions, as errors call it. */
const deleteOptionTypes: Readonly<Record<string, string>> = {
  dryRun: '[]string',
  gracePeriodSeconds: 'int64',
  orphanDependents: 'bool',
  propagationPolicy: 'v1.DeletionPropagation',
  preconditions: 'v1.Preconditions',
  'preconditions.uid': 'types.UID',
  'preconditions.resourceVersion': 'string',
  ignoreStoreReadErrorWithClusterBreakingPotential: 'bool',
};

/**
 * DeleteOptions from a decoded body; null is absence.
 * @throws StatusError 400 for a field of a wrong type
 */
export const checkedDeleteOptions = (body: Record<string, unknown>): DeleteOptions => {
  const check = (fields: Record<string, unknown>, prefix: string): Record<string, unknown> =>
    Object.fromEntries(
      Object.entries(fields).flatMap(([name, value]): [string, unknown][] => {
        const type = Object.hasOwn(deleteOptionTypes, prefix + name) ? deleteOptionTypes[prefix + name]! : '';
        if (value === null) return [];
        if (type === 'v1.Preconditions' && isObject(value)) return [[name, check(value, `${name}.`)]];
        if (type) checkType(prefix + name, value, type);
        return [[name, value]];
      }),
    );
  return check(body, '');
};

const checkType = (field: string, value: unknown, type: string): void => {
  const wrong = (found: unknown, expected: string): never => {
    throw StatusError.badRequest(`json: cannot unmarshal ${jsonTypeOf(found)} into Go struct field DeleteOptions.${field} of type ${expected}`);
  };
  if (type === '[]string') {
    if (!Array.isArray(value)) return wrong(value, type);
    const other = value.find((item) => typeof item !== 'string') as unknown;
    if (other !== undefined) wrong(other, 'string');
    return;
  }
  const fits = type === 'int64' ? Number.isSafeInteger(value) : type === 'bool' ? typeof value === 'boolean' : type !== 'v1.Preconditions' && typeof value === 'string';
  if (!fits) wrong(value, type);
};

const propagationPolicies = ['Foreground', 'Background', 'Orphan'];

/** @throws StatusError 422 */
export const validateDeleteOptions = ({ dryRun = [], orphanDependents, propagationPolicy }: DeleteOptions): void => {
  const causes: Required<StatusCause>[] = [];
  if (orphanDependents !== undefined && propagationPolicy !== undefined) {
    causes.push({ reason: 'FieldValueInvalid', field: 'propagationPolicy', message: `Invalid value: ${JSON.stringify(propagationPolicy)}: orphanDependents and deletionPropagation cannot be both set` });
  }
  if (propagationPolicy !== undefined && !propagationPolicies.includes(propagationPolicy)) {
    causes.push(unsupported('propagationPolicy', JSON.stringify(propagationPolicy), [...propagationPolicies, 'nil']));
  }
  causes.push(...dryRunFaults(dryRun));
  if (causes.length > 0) throw StatusError.invalid('meta.k8s.io', 'DeleteOptions', '', causes);
};
