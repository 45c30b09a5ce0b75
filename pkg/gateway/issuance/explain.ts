import { timestamp } from '../../controller/clock.ts';
import { naming, type Verdict } from '../../controller/conditions.ts';
import type { Wait } from './budget.ts';
import type { Limit, RateLimits } from './issuers.ts';

const what: Record<keyof RateLimits, (wait: Wait) => string> = {
  certificatesPerDomain: ({ domain }) => `new certificates for ${domain}`,
  duplicates: () => 'certificates for the same names',
  orders: () => "orders of the gateway's account",
};

/** What a person can do about a budget that is spent. */
const remedy: Record<keyof RateLimits, string> = {
  certificatesPerDomain: 'certMode dns01 needs one certificate where this needs one a host; or use another issuer, or serve fewer hosts',
  duplicates: 'do not remove and add the same host again and again; or use another issuer',
  orders: 'use certMode dns01, or another issuer, or serve fewer hosts',
};

/** Why certificates have to wait, until when, and what to do: one sentence a limit. */
export const explainWaits = (issuer: string, waits: readonly Wait[]): string =>
  [...Map.groupBy(waits, ({ limit, domain = '' }) => `${limit} ${domain}`).values()]
    .map((alike) => {
      const [first] = alike as [Wait];
      const { limit, allowed } = first;
      const from = timestamp(Math.min(...alike.map(({ until }) => until)));
      const names = naming(alike.map(({ wanted }) => wanted.certificate));
      return `issuer ${issuer} allows ${allowed.count} ${what[limit](first)} in ${hours(allowed)}, and they are spent; the next is ordered at ${from}; waiting: ${names}. What helps: ${remedy[limit]}`;
    })
    .join('. ');

const hours = ({ periodMs }: Limit): string => (periodMs % 86_400_000 === 0 ? `${periodMs / 86_400_000} days` : `${periodMs / 3_600_000} hours`);

/** What condition CertificatesReady says while certificates wait. */
export const waitingVerdict = (issuer: string, waits: readonly Wait[]): Verdict => ({ type: 'CertificatesReady', status: 'False', reason: 'RateLimited', message: explainWaits(issuer, waits) });
