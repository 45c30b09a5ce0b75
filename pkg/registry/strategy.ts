import type { KubeObject, StatusCause } from '../../api/meta/v1/types.ts';
import type { ResourceDefinition } from '../../api/resource.ts';
import type { AdmissionPlugin } from '../admission/chain.ts';
import type { KubeClient } from '../kube/client.ts';
import type { Quantity } from '../quantity/quantity.ts';
import type { ResourceNames } from '../storage/names.ts';
import type { Store } from '../storage/store.ts';

export type Causes = Required<StatusCause>[];

/** What a kind's own admission works with. */
export interface AdmissionEnvironment {
  client: Pick<KubeClient, 'json'>;
  /** Of the kind. */
  store: Store;
  /** Of any kind, by its plural. */
  storeOf: (resource: string) => Store;
  /** Whether objects are refused whose parent is not there. */
  requireParent: boolean;
  /** The server's own. */
  namespace: string;
  /** Unique among replicas. */
  identity: string;
  requestTimeoutMs: number;
  /** What ResourceQuotas of a namespace say is in use, by their own keys. @throws StatusError 503 before all were seen */
  useOf: (namespace: string, resource: string) => Quantity;
}

/** Admission for one kind alone. */
export interface KindAdmission extends AdmissionPlugin {
  stop?(): Promise<void>;
}

/** What makes a kind itself. Generic code asks here and never looks at the kind's name. All functions but `admission` are pure. */
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
  /** Judge what takes more than the object to tell, in this order. */
  admissions?: (environment: AdmissionEnvironment) => KindAdmission[];
}
