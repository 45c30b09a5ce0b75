import type { Tenant, TenantStatus } from '../../api/apps/v1alpha1/tenant.ts';
import { conditionOf, toConditions, type Verdict as ConditionVerdict } from '../controller/conditions.ts';
import type { Occurrence } from '../controller/events.ts';
import { version } from '../server/version.ts';
import { groupOf } from './access-levels.ts';
import type { Inherited } from './inheritance.ts';
import { cordonMark } from './marks.ts';
import { lineageOf, namespaceOf } from './names.ts';
import type { Verdict } from './observed.ts';

/** What is counted around a tenant. */
export type Counts = Pick<TenantStatus, 'quota' | 'remaining' | 'children'>;

/** The status to write; `aspects` are what conditions say besides Ready. */
export const statusOf = (
  { metadata, status }: Tenant,
  { host, gateway, cordonedBy }: Inherited,
  { ready, reason, message }: Verdict,
  { counts, aspects }: { counts: Counts; aspects: readonly ConditionVerdict[] },
  now: number,
): TenantStatus => {
  const namespace = namespaceOf(metadata.namespace!, metadata.name!);
  const verdicts: ConditionVerdict[] = [{ type: 'Ready', status: ready ? 'True' : 'False', reason, message }, ...aspects, ...cordoned(cordonedBy)];
  return {
    observedGeneration: metadata.generation,
    version,
    namespace,
    ...(host && { host }),
    ...(gateway && { gateway }),
    owners: lineageOf(namespace)
      .toReversed()
      .map((each) => groupOf(each, 'super-admin')),
    ...counts,
    conditions: toConditions(verdicts, status?.conditions, metadata.generation, now),
  };
};

const cordoned = (by: string): ConditionVerdict[] =>
  by ? [{ type: 'Cordoned', status: 'True', reason: 'Cordoned', message: `Nothing changes below tenant ${by} until its mark ${cordonMark} is taken off` }] : [];

/** What of a status that was written is worth an event: Ready turns, or turns out otherwise than before; a cordon begins or ends. */
export const newsOf = ({ status: before }: Tenant, after: TenantStatus, { ready, reason, message }: Verdict): Occurrence[] => {
  const [was, is] = [conditionOf(before?.conditions, 'Ready'), conditionOf(after.conditions, 'Ready')];
  const [wasCordoned, isCordoned] = [conditionOf(before?.conditions, 'Cordoned'), conditionOf(after.conditions, 'Cordoned')];
  return [
    ...(was?.reason !== is?.reason || was?.status !== is?.status ? [{ type: ready ? 'Normal' : 'Warning', reason, action: 'Reconcile', note: message } as const] : []),
    ...(isCordoned && !wasCordoned ? [{ type: 'Normal', reason: 'Cordoned', action: 'Cordon', note: isCordoned.message } as const] : []),
    ...(wasCordoned && !isCordoned ? [{ type: 'Normal', reason: 'Uncordoned', action: 'Cordon', note: 'Changes are let in again' } as const] : []),
  ];
};
