import type { KubeObject } from '../../api/meta/v1/types.ts';
import { naming } from '../controller/conditions.ts';
import { deletionPolicyAnnotation } from './marks.ts';
import { cleanupFinalizer } from './names.ts';
import { bareNamespace } from './namespace.ts';
import { isGatewayOurs, isOurs, isRootTenant, ownerOf, targetOf } from './ownership.ts';
import { isPartOurs, type PartKind } from './part.ts';
import { isModule } from './modules.ts';
import type { Action, Observed, Plan, Verdict } from './observed.ts';

type Deletable = (Action & { do: 'delete' })['what'];
/** Something that has to be gone before what comes next goes. */
interface Remaining {
  what: Deletable;
  object: KubeObject;
}

/** Deletions of what is not ending yet. */
export const deletions = (remaining: readonly Remaining[]): Action[] =>
  remaining.filter(({ object }) => !object.metadata.deletionTimestamp).map(({ what, object }) => ({ do: 'delete', what, object }));

/** The parts that were made for a tenant. */
export const partsOwned = (
  { tenant, made }: Pick<Observed, 'tenant' | 'made'>,
  namespace: KubeObject,
  among: (key: string, what: PartKind) => boolean = () => true,
): { what: PartKind; object: KubeObject }[] => [...made].filter(([key, { what, object }]) => among(key, what) && isPartOurs(object, tenant, namespace)).map(([, part]) => part);

/**
 * Tenants below first, then applications, then modules and the gateway, then the namespace; the Tenant goes when all of that is
 * gone. This order is the finalizer's, so that it holds whoever deletes: a client, the garbage collector, or the end of a namespace.
 */
export const planEnd = (observed: Observed): Plan => {
  const { tenant, parent, namespace, children } = observed;
  const name = targetOf(tenant);
  if (!tenant.metadata.finalizers?.includes(cleanupFinalizer)) return { actions: [], verdict: undefined };
  if (children.length > 0) return planChildren(observed);
  if (!namespace || !isOurs(namespace, tenant, ownerOf(parent))) return { actions: [{ do: 'release' }], verdict: undefined };

  for (const { what, remaining } of wavesOf(observed, namespace)) {
    if (remaining.length > 0) return { actions: deletions(remaining), verdict: waiting(`for ${what} in namespace ${name}: ${naming(remaining.map(shown))}`) };
  }
  if (isRootTenant(tenant)) return { actions: [{ do: 'apply', what: 'namespace', desired: bareNamespace(name) }, { do: 'release' }], verdict: undefined };
  return {
    actions: deletions([{ what: 'namespace', object: namespace }]),
    verdict: waiting(`for namespace ${name}, which is being emptied${observed.left && `: ${observed.left}`}`),
  };
};

/** Tenants below are deleted only where that was asked for. */
const planChildren = ({ tenant, children, cascades }: Observed): Plan => {
  const remaining = children.map((object): Remaining => ({ what: 'tenant', object }));
  const names = children.map((child) => `${child.metadata.name}${heldBy(child, cleanupFinalizer)}`);
  const what = `for the tenants in namespace ${targetOf(tenant)}: ${naming(names)}`;
  if (cascades) return { actions: deletions(remaining), verdict: waiting(`${what}; they are deleted with it`) };
  const advice = `delete them first, or annotate this tenant with ${deletionPolicyAnnotation}=cascade to have all below it deleted with it`;
  return { actions: [], verdict: { ...waiting(`${what}; ${advice}`), reason: 'ChildrenExist' } };
};

/** What goes before the namespace, in waves: each begins when the one before is gone. What people have in root's namespace stays with it. */
const wavesOf = (observed: Observed, namespace: KubeObject): { what: string; remaining: Remaining[] }[] => {
  const { tenant, releases, gateway } = observed;
  const root = isRootTenant(tenant);
  const ofRelease = (object: KubeObject): Remaining => ({ what: 'module', object });
  const ourGateway: Remaining[] = gateway && isGatewayOurs(gateway, namespace) ? [{ what: 'gateway', object: gateway }] : [];
  const owned = (among: (what: PartKind) => boolean): Remaining[] => partsOwned(observed, namespace, (_key, what) => among(what));
  const modules = root ? owned((what) => what === 'module') : releases.filter(isModule).map(ofRelease);
  return [
    { what: 'applications', remaining: root ? [] : releases.filter((release) => !isModule(release)).map(ofRelease) },
    { what: 'modules', remaining: [...modules, ...ourGateway] },
    { what: 'what the tenant has', remaining: root ? owned(() => true) : [] },
  ];
};

const waiting = (text: string): Verdict => ({ ready: false, reason: 'Terminating', message: `Deletion waits ${text}` });

const shown = ({ object }: Remaining): string => `${object.kind} ${object.metadata.name}${heldBy(object)}`;

/** Who keeps something that is ending from its end, by their finalizers. */
const heldBy = ({ metadata: { deletionTimestamp, finalizers = [] } }: KubeObject, besides?: string): string => {
  const holders = finalizers.filter((finalizer) => finalizer !== besides);
  return deletionTimestamp && holders.length > 0 ? ` (held by finalizer ${holders.join(', ')})` : '';
};
