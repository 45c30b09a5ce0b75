import type { StatusCause } from '../../../api/meta/v1/types.ts';
import type { ResourceDefinition } from '../../../api/resource.ts';
import { StatusError } from '../../kube/status-error.ts';
import type { CacheEntry } from '../../storage/cache-entry.ts';
import { fieldSelector } from '../field-selector.ts';
import { labelSelector } from '../label-selector.ts';
import type { RequestInfo } from '../request-info.ts';
import { quote } from '../structural/quote.ts';
import { booleanOption, integerOption } from './write-options.ts';

export type VersionMatch = '' | 'Exact' | 'NotOlderThan';

/** ListOptions of meta/v1, parsed. */
export interface ListOptions {
  /** Empty for all namespaces. */
  namespace: string;
  labelSelector: string;
  fieldSelector: string;
  /** Whether an object is selected; undefined where all are. */
  selects?: (entry: CacheEntry) => boolean;
  resourceVersion: string;
  resourceVersionMatch: VersionMatch;
  limit: number;
  continue: string;
  timeoutSeconds?: number;
  allowWatchBookmarks: boolean;
  sendInitialEvents?: boolean;
}

/**
 * Reads the options of a list, watch or deletecollection.
 * @throws StatusError 400 for what cannot be read, 422 for what does not fit together
 */
export const parseListOptions = (query: URLSearchParams, { namespace, name }: RequestInfo, definition: ResourceDefinition, watch: boolean): ListOptions => {
  const labelText = query.get('labelSelector') ?? '';
  const fieldText = nameTerm(query.get('fieldSelector') ?? '', name);
  const sendInitialEvents = booleanOption(query.get('sendInitialEvents'));
  const timeoutSeconds = integerOption(query.get('timeoutSeconds'));
  const selects = selection(labelText, fieldText, definition);
  const options: ListOptions = {
    namespace,
    labelSelector: labelText,
    fieldSelector: fieldText,
    ...(selects && { selects }),
    resourceVersion: query.get('resourceVersion') ?? '',
    resourceVersionMatch: (query.get('resourceVersionMatch') ?? '') as VersionMatch,
    limit: integerOption(query.get('limit')) ?? 0,
    continue: query.get('continue') ?? '',
    ...(timeoutSeconds !== undefined && { timeoutSeconds }),
    allowWatchBookmarks: booleanOption(query.get('allowWatchBookmarks')) ?? false,
    ...(sendInitialEvents !== undefined && { sendInitialEvents }),
  };
  const causes = faults(options, watch);
  if (causes.length > 0) throw StatusError.invalid('meta.k8s.io', 'ListOptions', '', causes);
  checkVersion(options.resourceVersion);
  return options;
};

/** @throws StatusError 400 for a resourceVersion that cannot be one */
export const checkVersion = (version: string): void => {
  if (version === '' || /^\d{1,18}$/.test(version)) return;
  const why = /^\d+$/.test(version) ? 'value out of range' : 'invalid syntax';
  throw StatusError.badRequest(`invalid resource version: resourceVersion: Invalid value: ${quote(version)}: strconv.ParseUint: parsing ${quote(version)}: ${why}`);
};

/** A watch of one object by its path is a watch with a field selector. */
const nameTerm = (text: string, name: string): string => {
  if (!name || text.includes('metadata.name')) return text;
  return text ? `${text},metadata.name=${name}` : `metadata.name=${name}`;
};

const selection = (labelText: string, fieldText: string, definition: ResourceDefinition): ((entry: CacheEntry) => boolean) | undefined => {
  const labels = labelSelector(labelText);
  const fields = fieldSelector(fieldText, definition);
  if (labels.empty && fields.empty) return undefined;
  return (entry) => labels.matches(entry.labels) && (fields.empty || fields.matches(fields.ofMetadataOnly ? { metadata: entry } : entry.object));
};

/** The combinations that ValidateListOptions of apimachinery refuses, in its words. */
const faults = (options: ListOptions, watch: boolean): Required<StatusCause>[] => {
  const { resourceVersion, resourceVersionMatch: match, continue: token, sendInitialEvents } = options;
  const forbidden = (field: string, why: string): Required<StatusCause> => ({ reason: 'FieldValueForbidden', field, message: `Forbidden: ${why}` });
  const unsupported = (...values: string[]): Required<StatusCause> => ({
    reason: 'FieldValueNotSupported',
    field: 'resourceVersionMatch',
    message: `Unsupported value: ${JSON.stringify(match)}: supported values: ${values.map((value) => JSON.stringify(value)).join(', ')}`,
  });
  const found: Required<StatusCause>[] = [];
  if (watch && sendInitialEvents !== undefined && match !== 'NotOlderThan') {
    found.push(forbidden('resourceVersionMatch', 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'));
  }
  if (watch && match !== '') {
    if (sendInitialEvents === undefined) found.push(forbidden('resourceVersionMatch', 'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided'));
    if (match !== 'NotOlderThan') found.push(unsupported('NotOlderThan'));
  }
  if (watch && token !== '') found.push(forbidden('resourceVersionMatch', 'resourceVersionMatch is forbidden when continue is provided'));
  if (!watch && match !== '') {
    if (resourceVersion === '') found.push(forbidden('resourceVersionMatch', 'resourceVersionMatch is forbidden unless resourceVersion is provided'));
    if (token !== '') found.push(forbidden('resourceVersionMatch', 'resourceVersionMatch is forbidden when continue is provided'));
    if (match !== 'Exact' && match !== 'NotOlderThan') found.push(unsupported('Exact', 'NotOlderThan', ''));
    if (match === 'Exact' && resourceVersion === '0') found.push(forbidden('resourceVersionMatch', 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'));
  }
  if (!watch && sendInitialEvents !== undefined) found.push(forbidden('sendInitialEvents', 'sendInitialEvents is forbidden for list'));
  return found;
};
