import type { Condition } from '../../api/meta/v1/types.ts';
import { timestamp } from './clock.ts';

/** What a condition says; when it began to say so comes from what was written before. */
export type Verdict = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>;

/** The condition of a type, if it was said. */
export const conditionOf = <T extends { type: string }>(conditions: readonly T[] | undefined, type: string): T | undefined => conditions?.find((condition) => condition.type === type);

/** Conditions to write: the time of transition is kept where the status stays. Messages are cut at the 32,768 characters that the schema allows. */
export const toConditions = (verdicts: readonly Verdict[], live: readonly Condition[] | undefined, observedGeneration: number | undefined, now: number): Condition[] =>
  verdicts.map(({ type, status, reason, message }) => {
    const before = conditionOf(live, type);
    return {
      type,
      status,
      reason,
      message: message.length > 32_768 ? `${message.slice(0, 32_767)}…` : message,
      lastTransitionTime: before?.status === status ? before.lastTransitionTime : timestamp(now),
      ...(observedGeneration !== undefined && { observedGeneration }),
    };
  });

/** At most `limit` names of a list, and how many more there are. */
export const naming = (names: readonly string[], limit = 10): string =>
  names.length <= limit ? names.join(', ') : `${names.slice(0, limit).join(', ')} and ${names.length - limit} more`;
