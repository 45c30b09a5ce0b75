import type { StatusCause } from '../../../api/meta/v1/types.ts';
import type { ResourceDefinition } from '../../../api/resource.ts';
import { StatusError } from '../../kube/status-error.ts';
import type { CacheEntry } from '../../storage/cache-entry.ts';
import { fieldSelector } from '../field-selector.ts';
import { labelSelector } from '../label-selector.ts';
import type { RequestInfo } from '../request-info.ts';
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
  const sendInitialEvents = booleanOption('sendInitialEvents', query.get('sendInitialEvents'));
  const timeoutSeconds = integerOption('timeoutSeconds', query.get('timeoutSeconds'));
  const selects = selection(labelText, fieldText, definition);
  const options: ListOptions = {
    namespace,
    labelSelector: labelText,
    fieldSelector: fieldText,
    ...(selects && { selects }),
    resourceVersion: query.get('resourceVersion') ?? '',
    resourceVersionMatch: (query.get('resourceVersionMatch') ?? '') as VersionMatch,
    limit: integerOption('limit', query.get('limit')) ?? 0,
    continue: query.get('continue') ?? '',
    ...(timeoutSeconds !== undefined && { timeoutSeconds }),
    allowWatchBookmarks: booleanOption('allowWatchBookmarks', query.get('allowWatchBookmarks')) ?? false,
    ...(sendInitialEvents !== undefined && { sendInitialEvents }),
  };
  const causes = faults(options, watch);
  if (causes.length > 0) throw StatusError.invalid('meta.k8s.io', 'ListOptions', '', causes);
  if (options.resourceVersion && !/^\d{1,18}$/.test(options.resourceVersion)) {
    throw StatusError.invalid('', '', '', [{ reason: 'FieldValueInvalid', field: 'resourceVersion', message: `Invalid value: ${JSON.stringify(options.resourceVersion)}: must be a whole number` }]);
  }
  return options;
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
  return ({ object }) => labels.matches(object.metadata.labels) && fields.matches(object);
};

/** The combinations that ValidateListOptions of apimachinery refuses, in its words. */
const faults = (options: ListOptions, watch: boolean): Required<StatusCause>[] => {
  const { resourceVersion, resourceVersionMatch: match, continue: token, sendInitialEvents } = options;
  const forbidden = (field: string, why: string): Required<StatusCause> => ({ reason: 'FieldValueForbidden', field, message: `Forbidden: ${why}` });
  const found: Required<StatusCause>[] = [];
  if (watch && sendInitialEvents !== undefined) {
    if (match !== 'NotOlderThan') found.push(forbidden('resourceVersionMatch', 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'));
    if (!options.allowWatchBookmarks && sendInitialEvents) found.push(forbidden('allowWatchBookmarks', 'sendInitialEvents requires setting allowWatchBookmarks to true'));
    return found;
  }
  if (!watch && sendInitialEvents !== undefined) found.push(forbidden('sendInitialEvents', 'sendInitialEvents is forbidden for list'));
  if (match === '') return found;
  if (watch) found.push(forbidden('resourceVersionMatch', 'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided'));
  if (resourceVersion === '') found.push(forbidden('resourceVersionMatch', 'resourceVersionMatch is forbidden unless resourceVersion is provided'));
  if (token !== '') found.push(forbidden('resourceVersionMatch', 'resourceVersionMatch is forbidden when continue is provided'));
  if (match !== 'Exact' && match !== 'NotOlderThan') {
    found.push({ reason: 'FieldValueNotSupported', field: 'resourceVersionMatch', message: `Unsupported value: ${JSON.stringify(match)}: supported values: "Exact", "NotOlderThan", ""` });
  }
  if (match === 'Exact' && resourceVersion === '0') found.push(forbidden('resourceVersionMatch', 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'));
  return found;
};
