import type { Tenant } from '../../../api/apps/v1alpha1/tenant.ts';
import type { AdmissionAttributes } from '../../admission/chain.ts';
import { StatusError } from '../../kube/status-error.ts';
import { cordonMark, isCordoned } from '../../tenant/marks.ts';
import { isRoot } from '../../tenant/names.ts';
import type { AdmissionEnvironment, KindAdmission } from '../strategy.ts';
import { isClusterController, TenantTree } from './tree.ts';

/** Refuses changes below a tenant that is cordoned, and its own deletion. */
export const cordonAdmission = ({ storeOf }: Pick<AdmissionEnvironment, 'storeOf'>): KindAdmission => {
  const tree = new TenantTree(storeOf('tenants'));
  return {
    name: 'Cordon',
    handles: (attributes) => attributes.subresource === '' && !isClusterController(attributes.user) && !isEnding(attributes) && (!tree.complete || cordonOver(tree, attributes) !== undefined),
    validate: (attributes) => {
      tree.assertComplete();
      const over = cordonOver(tree, attributes);
      if (over) throw refusal(attributes, over);
    },
  };
};

/** What is ending may end: others take their finalizers off. */
const isEnding = ({ operation, oldObject }: AdmissionAttributes): boolean => operation === 'UPDATE' && oldObject?.metadata.deletionTimestamp !== undefined;

/** The topmost tenant that keeps an object as it is: its cordon is the first that has to go. */
const cordonOver = (tree: TenantTree, { operation, resource, namespace, name }: AdmissionAttributes): Tenant | undefined => {
  const own = resource === 'tenants' && operation === 'DELETE' ? [tree.get(namespace, name)].filter((self) => self !== undefined) : [];
  const above = resource === 'tenants' && isRoot(namespace, name) ? [] : tree.lineOf(namespace); // root is not below itself
  return [...own, ...above].findLast(isCordoned);
};

const refusal = ({ kind, resource, namespace, name }: AdmissionAttributes, cordoned: Tenant): StatusError => {
  const { metadata } = cordoned;
  const takeOff = (['label', 'annotation'] as const)
    .filter((where) => metadata[`${where}s`]?.[cordonMark] === 'true')
    .map((where) => `kubectl ${where === 'label' ? 'label' : 'annotate'} tenants.apps.cozystack.io ${metadata.name} -n ${metadata.namespace} ${cordonMark}-`);
  const isSelf = resource === 'tenants' && metadata.namespace === namespace && metadata.name === name;
  const what = isSelf ? 'it is cordoned, and is not deleted as long as it is' : `tenant ${metadata.namespace}/${metadata.name} is cordoned, and nothing changes below it as long as it is`;
  const message = `${what}: to let changes in again, ${takeOff.join(' and ')}`;
  const error = StatusError.forbidden({ group: kind.group, resource }, name, message);
  error.status.details!.causes = [{ reason: 'Cordoned', message, field: isSelf ? 'metadata.name' : 'metadata.namespace' }];
  return error;
};
