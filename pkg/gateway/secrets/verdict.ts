import { timestamp } from '../../controller/clock.ts';
import { naming, type Verdict } from '../../controller/conditions.ts';
import { covers, type TlsFacts } from './certificate.ts';
import { tlsType, type SecretFacts } from './facts.ts';
import type { Need } from './needs.ts';

/** Secrets that a gateway needs, with what is known of each. */
export interface SeenSecret {
  need: Need;
  facts: SecretFacts;
}

/** How long before its end an expiry is told. */
export const soonMs = 14 * 24 * 3_600_000;

type Fault = Pick<Verdict, 'reason' | 'message'>;

/** Condition CertificatesReady where a Secret is at fault; undefined where all are there that a mode with an issuer needs. */
export const missingSecretVerdict = (namespace: string, seen: readonly SeenSecret[]): Verdict | undefined => {
  const faults = seen.flatMap((secret) => presenceFault(namespace, secret) ?? []);
  if (faults.length === 0) return undefined;
  return { type: 'CertificatesReady', status: 'False', reason: faults[0]!.reason, message: faults.map(({ message }) => message).join('; ') };
};

const presenceFault = (namespace: string, { need: { name, key, field }, facts }: SeenSecret): Fault | undefined => {
  const which = `Secret ${namespace}/${name} (${field})`;
  if (facts.state === 'absent') return { reason: 'SecretMissing', message: `${which} does not exist` };
  if (facts.state === 'unreadable') return { reason: 'SecretUnreadable', message: `${which} cannot be read: the server is not allowed to` };
  if (typeof key === 'string') return facts.keys.has(key) ? undefined : { reason: 'SecretKeyMissing', message: `${which} has nothing under key ${key}` };
  if (facts.type !== tlsType) return { reason: 'SecretInvalid', message: `${which} is of type ${facts.type}, and must be of type ${tlsType}` };
  if (!facts.tls || 'fault' in facts.tls) return { reason: 'SecretInvalid', message: `${which}: ${facts.tls?.fault}` };
  return undefined;
};

/** Whether a data plane can serve a Secret that a gateway was given, whatever its certificate is good for. */
export const isServable = ({ facts }: SeenSecret): boolean => facts.state === 'present' && facts.tls !== undefined && 'facts' in facts.tls;

/** How the Secret that a gateway was given serves one of its hostnames, for the status of the listener. */
export const servedCertificate = ({ facts }: SeenSecret, hostname: string, now: number): { ready: boolean; notAfter?: string; reason?: string } => {
  if (facts.state !== 'present' || !facts.tls || 'fault' in facts.tls) return { ready: false, reason: facts.state === 'absent' ? 'SecretMissing' : 'SecretInvalid' };
  const { names, notBefore, notAfter } = facts.tls.facts;
  const reason = now >= notAfter ? 'CertificateExpired' : now < notBefore ? 'CertificateNotYetValid' : covers(names, hostname) ? undefined : 'NamesNotCovered';
  return { ready: !reason, notAfter: timestamp(notAfter), ...(reason && { reason }) };
};

/**
 * Condition CertificatesReady of a gateway that serves a Secret it was given: apex and `*.apex` must be covered. Apexes of
 * tenants below that are not are told as well, and do not make the gateway unready: `uncovered` has them.
 */
export const existingSecretVerdict = (namespace: string, secret: SeenSecret, apex: string, children: readonly string[], now: number): { verdict: Verdict; uncovered: string[] } => {
  const say = (status: Verdict['status'], { reason, message }: Fault, uncovered: string[] = []) => ({ verdict: { type: 'CertificatesReady', status, reason, message }, uncovered });
  const absent = presenceFault(namespace, secret);
  if (absent) return say('False', absent, [...children]);
  const { names, notBefore, notAfter } = (secret.facts as { tls: { facts: TlsFacts } }).tls.facts;
  const which = `The certificate in Secret ${namespace}/${secret.need.name}`;
  if (now >= notAfter) return say('False', { reason: 'CertificateExpired', message: `${which} expired at ${timestamp(notAfter)}; replace it` });
  if (now < notBefore) return say('False', { reason: 'CertificateNotYetValid', message: `${which} is not valid before ${timestamp(notBefore)}` });
  const lacking = (zone: string): string[] => [zone, `*.${zone}`].filter((host) => !covers(names, host));
  if (lacking(apex).length > 0) return say('False', { reason: 'NamesNotCovered', message: `${which} is not valid for ${lacking(apex).join(', ')}; have it issued for these names too` });
  const uncovered = children.filter((child) => lacking(child).length > 0);
  const soon = notAfter - now < soonMs ? [`It expires soon: replace it`] : [];
  const untaken = uncovered.length > 0 ? [`It is not valid for ${naming(uncovered.flatMap(lacking), 20)}: clients of these see an error until it is issued for them too`] : [];
  const message = [`${which} is valid until ${timestamp(notAfter)}`, ...soon, ...untaken].join('. ');
  return say('True', { reason: uncovered.length > 0 ? 'ChildrenNotCovered' : soon.length > 0 ? 'ExpiresSoon' : 'SecretValid', message }, uncovered);
};
