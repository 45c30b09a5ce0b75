import type { KubeObject, StatusCause } from '../../api/meta/v1/types.ts';
import type { ResourceDefinition } from '../../api/resource.ts';
import type { ResourceNames } from '../storage/names.ts';

export type Causes = Required<StatusCause>[];

/** What makes a kind itself. Generic code asks here and never looks at the kind's name. All functions are pure. */
export interface Strategy {
  readonly definition: ResourceDefinition;
  /** The backing custom resource of the `records` backend. */
  readonly record: ResourceNames;
  /** The least spec that the schema takes. */
  readonly minimalSpec: unknown;
  /** Set on every object at create, so that what the loop makes is removed before the object goes. */
  readonly finalizer?: string;
  /** Paths of fields that only trusted callers may set, change or remove; each from the root, as in ['spec', 'host']. */
  readonly gatedFields: readonly (readonly string[])[];
  /** Faults of the name of an object to be created. */
  validateName: (namespace: string, name: string) => Causes;
  /** Faults that the schema cannot express. `old` is absent on create. */
  validate: (object: KubeObject, old?: KubeObject) => Causes;
  /** Texts for the caller where a choice is legal but likely wrong. */
  warnings: (object: KubeObject, old?: KubeObject) => string[];
}
