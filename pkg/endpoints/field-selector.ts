import type { KubeObject } from '../../api/meta/v1/types.ts';
import type { ResourceDefinition } from '../../api/resource.ts';
import { parseFieldSelector, type FieldRequirement } from '../authorization/selectors.ts';
import { StatusError } from '../kube/status-error.ts';

/** All requirements of a selector must hold. */
export interface FieldSelector {
  readonly empty: boolean;
  /** Whether metadata.name and metadata.namespace are all that it looks at. */
  readonly ofMetadataOnly: boolean;
  matches: (object: { metadata: Pick<KubeObject['metadata'], 'name' | 'namespace'> }) => boolean;
}

/** @throws StatusError 400, also for fields that the kind does not declare */
export const fieldSelector = (text: string, definition: ResourceDefinition): FieldSelector => {
  const requirements = parsed(text);
  const supported = ['metadata.name', 'metadata.namespace', ...definition.selectableFields.map((path) => path.slice(1))];
  const unknown = requirements.find(({ field }) => !supported.includes(field));
  if (unknown) throw StatusError.badRequest(`field label not supported: ${unknown.field}`);
  return {
    empty: requirements.length === 0,
    ofMetadataOnly: requirements.every(({ field }) => field.startsWith('metadata.')),
    matches: (object) => requirements.every(({ field, operator, value }) => (fieldValue(object, field) === value) === (operator === '=')),
  };
};

const parsed = (text: string): FieldRequirement[] => {
  try {
    return parseFieldSelector(text);
  } catch (error) {
    throw StatusError.badRequest((error as Error).message, error);
  }
};

const fieldValue = (object: object, field: string): string => {
  let value: unknown = object;
  for (const part of field.split('.')) value = (value as Record<string, unknown> | undefined)?.[part];
  return typeof value === 'string' ? value : typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
};
