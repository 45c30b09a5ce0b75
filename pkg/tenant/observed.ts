import type { Tenant } from '../../api/apps/v1alpha1/tenant.ts';
import type { KubeObject } from '../../api/meta/v1/types.ts';
import type { Inherited } from './inheritance.ts';
import type { PartKind } from './part.ts';
import type { TenantSettings } from './settings.ts';
import type { HandedDown } from './values.ts';

/** What there is in the cluster around a tenant. */
export interface Surroundings {
  settings: TenantSettings;
  /** Cozystack's namespace of things that all tenants may see. */
  hasPublicNamespace: boolean;
  /** Kinds of parts that the kube-apiserver does not know. */
  missing: ReadonlySet<PartKind>;
  /** What is handed down to charts, by the tenant above or the platform; undefined for root where the platform's own Secret is there. */
  handedDown: HandedDown | undefined;
  /** What the platform says to the tenant itself: the same, and for root always. */
  platform: HandedDown;
  /** Where the kube-apiservers are. */
  apiServer: { addresses: readonly string[]; ports: readonly number[] };
}

/** The namespace that a Tenant was created in, as a parent. */
export type Parent =
  | { state: 'ready'; namespace: KubeObject }
  /** Root has none. */
  | { state: 'none' }
  /** No namespace of a tenant, or one whose Tenant does not exist. */
  | { state: 'missing' | 'ending' };

/** All that a plan is made from. Objects are as the caches hold them. */
export interface Observed {
  tenant: Tenant;
  parent: Parent;
  inherited: Inherited;
  /** The tenant's own namespace, whoever made it. */
  namespace: KubeObject | undefined;
  /** TenantGateway `cozystack` in it. */
  gateway: KubeObject | undefined;
  /** Tenants in it, without the tenant itself. */
  children: readonly Tenant[];
  /** Whether those below go with the tenant: it says so, or one above that is ending does. */
  cascades: boolean;
  /** HelmReleases in it of applications and modules, whoever made them; metadata only. */
  releases: readonly KubeObject[];
  /** What the namespace controller says of a namespace that it cannot empty, if anything. */
  left: string;
  /** Objects in the namespace and elsewhere that may be parts of the tenant, by partKey. */
  made: ReadonlyMap<string, { what: PartKind; object: KubeObject }>;
  surroundings: Surroundings;
}

export type Action =
  | { do: 'hold' }
  | { do: 'release' }
  | { do: 'apply'; what: 'namespace' | 'gateway' | PartKind; desired: KubeObject }
  | { do: 'delete'; what: 'tenant' | 'namespace' | 'gateway' | PartKind; object: KubeObject };

/** What Ready says. */
export interface Verdict {
  ready: boolean;
  reason: string;
  message: string;
}

export interface Plan {
  actions: Action[];
  /** Undefined where what is done now comes back as an event, and there is nothing to say until then. */
  verdict: Verdict | undefined;
}
