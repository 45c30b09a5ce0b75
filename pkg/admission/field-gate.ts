import type { KubeObject } from '../../api/meta/v1/types.ts';
import type { UserInfo } from '../authentication/user.ts';
import { StatusError } from '../kube/status-error.ts';
import type { Strategy } from '../registry/strategy.ts';
import type { AdmissionPlugin } from './chain.ts';

/**
 * Groups whose members may set gated fields (layer 4 of the gateway's security model): the administrators, and the
 * ServiceAccounts of the namespaces that run the platform.
 */
export const defaultTrustedGroups: readonly string[] = [
  'system:masters',
  'system:serviceaccounts:cozy-system',
  'system:serviceaccounts:cozy-cert-manager',
  'system:serviceaccounts:cozy-fluxcd',
  'system:serviceaccounts:kube-system',
];

/** Refuses a write that sets, changes or removes a gated field (a tenant's host, its status) unless the caller is trusted. */
export const fieldGate = (strategyOf: (resource: string) => Strategy, trustedGroups: readonly string[]): AdmissionPlugin => {
  const trusted = ({ groups }: UserInfo): boolean => groups.some((group) => trustedGroups.includes(group));
  return {
    name: 'FieldGate',
    handles: ({ operation }) => operation !== 'DELETE',
    validate: ({ object, oldObject, kind, resource, subresource, name, user }) => {
      for (const path of strategyOf(resource).gatedFields) {
        if ((path[0] === 'status') !== (subresource === 'status')) continue; // each is written by its own endpoint alone
        if (valueAt(object, path) === valueAt(oldObject, path) || trusted(user)) continue;
        const field = path.join('.');
        throw StatusError.forbidden(
          { group: kind.group, resource },
          name,
          `${field} can only be set, changed or removed by a member of a trusted group (${trustedGroups.join(', ')}); ` +
            `User "${user.username}" is in none of them. Leave ${field} as it is, or ask a platform administrator`,
        );
      }
    },
  };
};

/** The text of a field; absent, null and empty are the same, anything but text is compared as JSON. */
const valueAt = (object: KubeObject | undefined, path: readonly string[]): string => {
  let value: unknown = object;
  for (const part of path) value = typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[part] : undefined;
  return typeof value === 'string' ? value : value === undefined || value === null ? '' : JSON.stringify(value);
};
