import { StatusError } from '../kube/status-error.ts';
import type { Strategy } from '../registry/strategy.ts';
import type { AdmissionPlugin } from './chain.ts';

/**
 * Refuses objects whose name the kind does not take, and names that the store keeps for itself. Names are judged at
 * create alone: what exists can be changed whatever it is called.
 */
export const names = (strategyOf: (resource: string) => Strategy, reserved: (namespace: string, name: string) => boolean): AdmissionPlugin => ({
  name: 'Names',
  handles: ({ operation }) => operation === 'CREATE',
  validate: ({ kind, resource, namespace, name }) => {
    if (reserved(namespace, name)) throw StatusError.forbidden({ group: kind.group, resource }, name, 'the name is kept for the server; choose another');
    const causes = strategyOf(resource).validateName(namespace, name);
    if (causes.length > 0) throw StatusError.invalid(kind.group, kind.kind, name, causes);
  },
});
