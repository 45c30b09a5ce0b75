import type { GroupVersionKind, KubeObject } from '../../api/meta/v1/types.ts';
import { StatusError } from '../kube/status-error.ts';
import { add, exceeds, formatQuantity, parseQuantity, subtract, type Quantity } from '../quantity/quantity.ts';
import type { AdmissionAttributes } from './chain.ts';

/** core/v1 ResourceQuota, as far as it is looked at. */
export interface ResourceQuota extends KubeObject {
  spec?: { scopes?: string[]; scopeSelector?: object };
  status?: { hard?: Record<string, string>; used?: Record<string, string> };
}

export type Charged = Pick<AdmissionAttributes, 'resource' | 'name'> & { kind: Pick<GroupVersionKind, 'group'> };

/** What a quota calls the number of objects of a resource. */
const countedName = ({ resource, kind: { group } }: Omit<Charged, 'name'>): string => `count/${resource}.${group}`;

/**
 * The quota with one more of the resource in use, or undefined where it says nothing of it.
 * @throws StatusError 403 where there is no room, in the kube-apiserver's words
 */
export const charge = (charged: Charged, quota: ResourceQuota): ResourceQuota | undefined => {
  const { resource, name, kind: { group } } = charged;
  const counted = countedName(charged);
  const { hard, used } = quota.status ?? {};
  const limit = hard?.[counted];
  if (limit === undefined || quota.spec?.scopes?.length || quota.spec?.scopeSelector) return undefined; // scopes are of pods
  const inUse = used?.[counted];
  if (inUse === undefined) throw StatusError.forbidden({ group, resource }, name, `status unknown for quota: ${quota.metadata.name}, resources: ${counted}`);
  const counting = parseQuantity(inUse);
  if (!hasRoom(counting, limit)) {
    throw StatusError.forbidden({ group, resource }, name, `exceeded quota: ${quota.metadata.name}, requested: ${counted}=1, used: ${counted}=${inUse}, limited: ${counted}=${limit}`);
  }
  return withUsed(quota, counted, add(counting, one));
};

/** The quota with one less of the resource in use. */
export const release = (charged: Charged, quota: ResourceQuota): ResourceQuota => {
  const counted = countedName(charged);
  const counting = parseQuantity(quota.status?.used?.[counted] ?? '0');
  return counting && !exceeds(one, counting) ? withUsed(quota, counted, subtract(counting, one)) : quota;
};

const withUsed = (quota: ResourceQuota, counted: string, count: Quantity): ResourceQuota => ({
  ...quota,
  status: { ...quota.status, used: { ...quota.status?.used, [counted]: formatQuantity(count) } },
});

const one = parseQuantity(1)!;

/** What cannot be read leaves no room. */
const hasRoom = (inUse: Quantity | undefined, limit: string): inUse is Quantity => {
  const most = parseQuantity(limit);
  return inUse !== undefined && most !== undefined && !exceeds(add(inUse, one), most);
};
