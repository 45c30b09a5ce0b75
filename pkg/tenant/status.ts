import type { Tenant, TenantStatus } from '../../api/apps/v1alpha1/tenant.ts';
import { toConditions, type Verdict as ConditionVerdict } from '../controller/conditions.ts';
import type { Inherited } from './inheritance.ts';
import { namespaceOf } from './names.ts';
import type { Verdict } from './plan.ts';

/** What is counted around a tenant. */
export type Counts = Pick<TenantStatus, 'quota' | 'remaining' | 'children'>;

/** The status to write; `aspects` are what conditions say besides Ready. */
export const statusOf = (
  { metadata, status }: Tenant,
  { host, gateway }: Inherited,
  { ready, reason, message }: Verdict,
  { counts, aspects }: { counts: Counts; aspects: readonly ConditionVerdict[] },
  now: number,
): TenantStatus => ({
  observedGeneration: metadata.generation,
  namespace: namespaceOf(metadata.namespace!, metadata.name!),
  ...(host && { host }),
  ...(gateway && { gateway }),
  ...counts,
  conditions: toConditions([{ type: 'Ready', status: ready ? 'True' : 'False', reason, message }, ...aspects], status?.conditions, metadata.generation, now),
});

/** Whether Ready turns, or turns out otherwise than before: worth an event. */
export const isNews = ({ status }: Tenant, { ready, reason }: Verdict): boolean => {
  const before = status?.conditions?.find(({ type }) => type === 'Ready');
  return before?.reason !== reason || before.status !== (ready ? 'True' : 'False');
};
