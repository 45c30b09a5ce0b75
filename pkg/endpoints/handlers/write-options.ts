import type { DeleteOptions, StatusCause } from '../../../api/meta/v1/types.ts';
import { StatusError } from '../../kube/status-error.ts';
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
    causes.push(unsupported('fieldValidation', fieldValidation, ['Ignore', 'Strict', 'Warn']));
  }
  if (causes.length > 0) throw StatusError.invalid('meta.k8s.io', kind, '', causes);
  return {
    dryRun: dryRun.length > 0,
    fieldManager: fieldManager || managerOf(userAgent),
    fieldValidation: (fieldValidation || 'Warn') as FieldValidation,
    ...(apply && { force: booleanOption('force', force) ?? false }),
  };
};

const unsupported = (field: string, value: string, values: string[]): Required<StatusCause> => ({
  reason: 'FieldValueNotSupported',
  field,
  message: `Unsupported value: ${JSON.stringify(value)}: supported values: ${values.map((text) => JSON.stringify(text)).join(', ')}`,
});

const managerFaults = (manager: string): Required<StatusCause>[] => {
  if (manager.length > maxManagerLength) {
    return [{ reason: 'FieldValueTooLong', field: 'fieldManager', message: `Too long: may not be more than ${maxManagerLength} bytes` }];
  }
  return /^\P{C}*$/u.test(manager)
    ? []
    : [{ reason: 'FieldValueInvalid', field: 'fieldManager', message: `Invalid value: ${JSON.stringify(manager)}: should only contain printable characters` }];
};

const dryRunFaults = (dryRun: readonly string[]): Required<StatusCause>[] =>
  dryRun.every((value) => value === 'All') ? [] : [unsupported('dryRun', dryRun.find((value) => value !== 'All')!, ['All'])];

const managerOf = (userAgent = ''): string => userAgent.split('/')[0]!.replaceAll(/\p{C}/gu, '').slice(0, maxManagerLength) || 'unknown';

/** @throws StatusError 400 */
export const booleanOption = (name: string, value: string | null | undefined): boolean | undefined => {
  if (value === null || value === undefined) return undefined;
  if (['', '1', 't', 'T', 'true', 'TRUE', 'True'].includes(value)) return true;
  if (['0', 'f', 'F', 'false', 'FALSE', 'False'].includes(value)) return false;
  throw StatusError.badRequest(`invalid value for ${name}: ${JSON.stringify(value)} is not a boolean`);
};

/** @throws StatusError 400 */
export const integerOption = (name: string, value: string | null | undefined): number | undefined => {
  if (value === null || value === undefined || value === '') return undefined;
  if (!/^[-+]?\d{1,15}$/.test(value)) throw StatusError.badRequest(`invalid value for ${name}: ${JSON.stringify(value)} is not an integer`);
  return Number(value);
};

/** DeleteOptions from the query, where the request has no body. */
export const deleteOptionsOf = (query: URLSearchParams): DeleteOptions => {
  const dryRun = query.getAll('dryRun');
  const gracePeriodSeconds = integerOption('gracePeriodSeconds', query.get('gracePeriodSeconds'));
  const orphanDependents = booleanOption('orphanDependents', query.get('orphanDependents'));
  const propagationPolicy = query.get('propagationPolicy') ?? undefined;
  return {
    ...(dryRun.length > 0 && { dryRun }),
    ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }),
    ...(orphanDependents !== undefined && { orphanDependents }),
    ...(propagationPolicy !== undefined && { propagationPolicy: propagationPolicy as DeleteOptions['propagationPolicy'] }),
  };
};

const propagationPolicies = ['Foreground', 'Background', 'Orphan'];

/** @throws StatusError 422 */
export const validateDeleteOptions = ({ dryRun = [], orphanDependents, propagationPolicy }: DeleteOptions): void => {
  const causes: Required<StatusCause>[] = [];
  if (orphanDependents !== undefined && propagationPolicy !== undefined) {
    causes.push({ reason: 'FieldValueInvalid', field: 'propagationPolicy', message: `Invalid value: ${JSON.stringify(propagationPolicy)}: orphanDependents and deletionPropagation cannot be both set` });
  }
  if (propagationPolicy !== undefined && !propagationPolicies.includes(propagationPolicy)) {
    causes.push(unsupported('propagationPolicy', propagationPolicy, [...propagationPolicies, 'nil']));
  }
  causes.push(...dryRunFaults(dryRun));
  if (causes.length > 0) throw StatusError.invalid('meta.k8s.io', 'DeleteOptions', '', causes);
};
