import type { AdmissionAttributes } from '../../admission/chain.ts';
import { naming } from '../../controller/conditions.ts';
import { ifFound, StatusError } from '../../kube/status-error.ts';
import { freshen } from '../../storage/freshen.ts';
import type { Store } from '../../storage/store.ts';
import { deletionPolicyAnnotation, isCascading } from '../../tenant/marks.ts';
import { isRoot, namespaceOf, rootNamespace, tenantOf } from '../../tenant/names.ts';
import type { AdmissionEnvironment, KindAdmission } from '../strategy.ts';
import { isClusterController, TenantTree } from './tree.ts';

/** How long the cache may take to become fresh. */
const freshWithinMs = 5000;

/** Refuses tenants that have no parent, and the deletion of those that have children. For callers: the loop holds to both by itself. */
export const treeAdmission = ({ store, requireParent }: Pick<AdmissionEnvironment, 'store' | 'requireParent'>): KindAdmission => {
  const tree = new TenantTree(store);
  return {
    name: 'TenantTree',
    handles: ({ operation, subresource, namespace, name, user }) =>
      subresource === '' &&
      !isClusterController(user) &&
      ((operation === 'CREATE' && requireParent && !isRoot(namespace, name)) || (operation === 'DELETE' && (!tree.complete || staying(tree, namespace, name).length > 0))),
    validate: async (attributes) => {
      if (attributes.operation === 'CREATE') await judgeParent(store, attributes);
      else await judgeChildren(store, tree, attributes);
    },
  };
};

/** Names of the tenants below that nobody is deleting. */
const staying = (tree: TenantTree, namespace: string, name: string): string[] =>
  tree
    .in(namespaceOf(namespace, name))
    .filter(({ metadata }) => !metadata.deletionTimestamp)
    .map(({ metadata }) => metadata.name!);

const judgeParent = async (store: Store, { kind, resource, namespace, name }: AdmissionAttributes): Promise<void> => {
  const key = tenantOf(namespace);
  const invalid = (why: string): StatusError =>
    StatusError.invalid(kind.group, kind.kind, name, [{ reason: 'FieldValueInvalid', field: 'metadata.namespace', message: `Invalid value: ${JSON.stringify(namespace)}: ${why}` }]);
  if (!key) throw invalid('is not the namespace of a tenant; create this one in tenant-root, or in the namespace of the tenant that it is to be below');
  const { cache } = store;
  // A parent that the cache does not know may have been made a moment ago.
  const parent = (cache.complete ? cache.get(key.namespace, key.name)?.object : undefined) ?? (await ifFound(store.get(key.namespace, key.name)));
  if (!parent && namespace === rootNamespace) return; // which comes with the manifests, and Tenant root after it
  if (!parent) throw invalid(`belongs to no tenant: create Tenant ${key.name} in namespace ${key.namespace} first`);
  if (!parent.metadata.deletionTimestamp) return;
  const message = `the tenant above, ${key.namespace}/${key.name}, is being deleted, and nothing new is made below it`;
  const error = StatusError.forbidden({ group: kind.group, resource }, name, message);
  error.status.details!.causes = [{ reason: 'ParentTerminating', message, field: 'metadata.namespace' }];
  throw error;
};

const judgeChildren = async (store: Store, tree: TenantTree, { kind, resource, namespace, name, oldObject }: AdmissionAttributes): Promise<void> => {
  if (oldObject && (isCascading(oldObject) || oldObject.metadata.deletionTimestamp)) return;
  // The last child may have gone a moment ago.
  if (!(await freshen(store, AbortSignal.timeout(2 * freshWithinMs), freshWithinMs))) throw StatusError.unavailable('the tenants below this one cannot be read; try again');
  const children = staying(tree, namespace, name);
  if (children.length === 0) return;
  const message =
    `there are tenants below it, in namespace ${namespaceOf(namespace, name)}: ${naming(children)}; delete them first, ` +
    `or annotate this tenant with ${deletionPolicyAnnotation}=cascade to have all below it deleted with it`;
  const error = StatusError.forbidden({ group: kind.group, resource }, name, message);
  error.status.details!.causes = [{ reason: 'ChildrenExist', message, field: `metadata.annotations[${deletionPolicyAnnotation}]` }];
  throw error;
};
