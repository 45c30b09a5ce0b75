import type { KubeObject } from '../../../api/meta/v1/types.ts';
import { StatusError } from '../../kube/status-error.ts';
import { validateSchema } from '../structural/validate.ts';
import type { RequestScope } from './scope.ts';

/**
 * What a kind's own admission relies on: values are of the types that the schema says. What has others is for the host to refuse, in
 * its words and with all else that is wrong, by a write that changes nothing.
 * @throws StatusError 422, or what the host answers
 */
export const requireTypes = async ({ kind, schema }: RequestScope, object: KubeObject, dryRun: () => Promise<unknown>): Promise<void> => {
  const faults = validateSchema(schema, object);
  if (faults.length === 0) return;
  await dryRun();
  throw StatusError.invalid(kind.group, kind.kind, object.metadata.name ?? '', faults);
};
