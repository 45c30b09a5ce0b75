import type { ListenerStatus, TenantGateway, TenantGatewayStatus } from '../../api/gateway/v1alpha1/tenantgateway.ts';
import type { Condition } from '../../api/meta/v1/types.ts';
import type { RestResource } from '../controller/apply.ts';
import { conditionOf, naming, toConditions, type Verdict } from '../controller/conditions.ts';
import { normalHost } from './hostnames.ts';
import { isIssued } from './issued.ts';
import { issuerNameOf } from './issuer.ts';
import type { Wait } from './issuance/budget.ts';
import { waitingVerdict } from './issuance/explain.ts';
import { existingSecretVerdict, missingSecretVerdict, servedCertificate, type SeenSecret } from './secrets/verdict.ts';
import { listenerLimit } from './places.ts';
import type { Plan } from './plan.ts';
import { gatewayGroup, listenerSets, type Certificate, type Gateway, type Listener, type ListenerSet, type ListenerState } from './types.ts';

/** What a status is made from, after the plan was carried out. */
export interface Outlook {
  plan: Plan;
  /** Objects that stand in the way, in words. */
  refused: readonly string[];
  /** What the kube-apiserver found fault with, in its words. */
  rejected: readonly string[];
  missing: ReadonlySet<RestResource>;
  /** Certificates that an issuer's limits do not allow yet. */
  waiting: readonly Wait[];
  /** Those that the gateway names. */
  secrets: readonly SeenSecret[];
  live: { gateway: Gateway | undefined; sets: readonly ListenerSet[]; certificates: readonly Certificate[] };
}

/** The status to write. What other controllers say is passed on here, and decides nothing. */
export const statusOf = (gateway: TenantGateway, outlook: Outlook, now: number): TenantGatewayStatus => {
  const listeners = listenerStatuses(outlook, now);
  return {
    observedGeneration: gateway.metadata.generation,
    conditions: toConditions(verdicts(gateway, outlook, listeners, now), gateway.status?.conditions, gateway.metadata.generation, now),
    listeners,
  };
};

const verdicts = (gateway: TenantGateway, outlook: Outlook, listeners: readonly ListenerStatus[], now: number): Verdict[] => {
  const accepted = acceptance(gateway, outlook);
  const programmed = passedOn('Programmed', outlook.live.gateway, 'GatewayNotProgrammed', `Gateway ${nameOf(gateway)} is not programmed: no data plane serves it yet`);
  const certified = certification(gateway, outlook, now);
  const served = service(outlook);
  const unready = listeners.filter(({ ready }) => !ready).map(({ name }) => name);
  const listening: Verdict =
    unready.length > 0
      ? { type: 'Ready', status: 'False', reason: 'ListenersNotReady', message: `Listeners are not ready: ${naming(unready)}` }
      : { type: 'Ready', status: 'True', reason: 'Reconciled', message: `Gateway ${nameOf(gateway)} is programmed with ${listeners.length} listeners` };
  const ready = [accepted, programmed, certified, served].find(({ status }) => status !== 'True') ?? listening;
  return [accepted, programmed, certified, served, { ...ready, type: 'Ready', status: ready.status === 'True' ? 'True' : 'False' }];
};

const nameOf = ({ metadata: { namespace, name } }: TenantGateway): string => `${namespace}/${name}`;

/** What keeps our own objects from being made comes before what the data plane says. */
const acceptance = (gateway: TenantGateway, { plan, refused, rejected, missing, live }: Outlook): Verdict => {
  const no = (reason: string, message: string): Verdict => ({ type: 'Accepted', status: 'False', reason, message });
  if (plan.fault) return no('InvalidSpec', plan.fault);
  if (missing.size > 0) return no('ApiMissing', `${missingApis(missing)}; this goes on by itself once it is there`);
  if (refused.length > 0) return no('NotOwned', naming(refused, 5));
  if (rejected.length > 0) return no('ReconcileError', naming(rejected, 5));
  return passedOn(
    'Accepted',
    live.gateway,
    'GatewayNotAccepted',
    `Gateway ${nameOf(gateway)} was not accepted: is a data plane for GatewayClass ${gateway.spec.gatewayClassName || 'cilium'} installed?`,
  );
};

const missingApis = (missing: ReadonlySet<RestResource>): string => {
  const of = (group: string): string[] => [...missing].filter(({ apiVersion }) => apiVersion.startsWith(`${group}/`)).map(({ plural }) => plural);
  const say = (group: string, product: string): string[] =>
    of(group).length > 0 ? [`${group}/v1 (${of(group).join(', ')}) is not installed: install the CRDs of ${product}`] : [];
  return [...say(gatewayGroup, 'Gateway API, standard channel'), ...say('cert-manager.io', 'cert-manager')].join('; ');
};

const passedOn = (type: string, gateway: Gateway | undefined, reason: string, otherwise: string): Verdict => {
  const said = conditionOf(gateway?.status?.conditions, type);
  if (said?.status === 'True') return { type, status: 'True', reason: type, message: said.message };
  return { type, status: 'False', reason, message: said?.status === 'False' && said.message ? `${otherwise} (${said.message})` : otherwise };
};

const certification = ({ metadata: { namespace = '' }, spec }: TenantGateway, { plan, live, waiting, secrets }: Outlook, now: number): Verdict => {
  const type = 'CertificatesReady';
  const [served] = secrets;
  if (spec.certMode === 'existingSecret' && served) return existingSecretVerdict(namespace, served, normalHost(spec.apex), zonesBelow(spec, live), now).verdict;
  const missing = missingSecretVerdict(namespace, secrets);
  if (missing) return missing;
  if (plan.certificates.length === 0) return { type, status: 'True', reason: 'NothingToIssue', message: 'No certificate has to be issued' };
  if (waiting.length > 0) return waitingVerdict(issuerNameOf(spec), waiting);
  const pending = plan.certificates.filter((name) => !isCertified(live.certificates, name));
  if (pending.length > 0) return { type, status: 'False', reason: 'CertificatesPending', message: `cert-manager has not issued: ${naming(pending)}${plan.waiting.length > 0 ? '; until then what was served before is served as it was' : ''}` };
  return { type, status: 'True', reason: 'Issued', message: `${plan.certificates.length} certificates are issued` };
};

/** Apexes of tenants below whose wildcards are served too. */
const zonesBelow = ({ apex }: TenantGateway['spec'], { gateway, sets }: Outlook['live']): string[] => {
  const wildcards = [gateway, ...sets].flatMap((holder) => holder?.spec?.listeners ?? []).flatMap(({ hostname = '' }) => (hostname.startsWith('*.') ? [hostname.slice(2)] : []));
  return wildcards.filter((zone) => zone !== normalHost(apex));
};

/** Whether all that is asked for has its place. */
const service = ({ plan: { leftOut, unattached, nameless } }: Outlook): Verdict => {
  const type = 'Complete';
  const no = (reason: string, message: string): Verdict => ({ type, status: 'False', reason, message });
  if (leftOut.length > 0)
    return no('ListenerLimitReached', `A Gateway has ${listenerLimit} listeners at most; not served: ${naming(leftOut, 50)}. Use certMode dns01, another gateway, or a GatewayClass that has ListenerSets`);
  if (unattached.length > 0)
    return no('NamespacesNotAttached', `Namespaces of spec.attachedNamespaces are not attached: ${naming(unattached)}. They do not exist, or are of tenants, which attach by their place in the tree`);
  if (nameless.length > 0)
    return no('InvalidNames', `Names of spec.tlsPassthroughServices make no host below the apex: ${naming(nameless.map((service) => JSON.stringify(service)))}`);
  return { type, status: 'True', reason: 'AllPlaced', message: 'All that may be served has a listener' };
};

const listenerStatuses = (outlook: Outlook, now: number): ListenerStatus[] => {
  const { gateway, sets } = outlook.live;
  const holders: (Gateway | ListenerSet)[] = [...(gateway ? [gateway] : []), ...sets.toSorted((a, b) => (a.metadata.name! < b.metadata.name! ? -1 : 1))];
  return holders.flatMap((holder) => {
    const said = new Map(holder.status?.listeners?.map((listener) => [listener.name, listener]));
    return (holder.spec?.listeners ?? []).map((listener) => listenerStatus(outlook, holder, listener, said.get(listener.name), now));
  });
};

const listenerStatus = (outlook: Outlook, holder: Gateway | ListenerSet, { name, hostname, tls }: Listener, said: ListenerState | undefined, now: number): ListenerStatus => {
  const certificateName = tls?.certificateRefs?.[0]?.name;
  const certificate = certificateName === undefined ? undefined : certificateOf(outlook, certificateName, hostname ?? '', now);
  // A name too little is for its clients to bear; the listener serves.
  const isServed = !certificate || certificate.ready || certificate.reason === 'NamesNotCovered';
  const reason = listenerFault(said?.conditions) ?? (isServed ? undefined : certificate.reason === 'RateLimited' ? 'RateLimited' : 'CertificateNotReady');
  return {
    name,
    ...(hostname && { hostname }),
    ready: !reason,
    ...(holder.kind === listenerSets.kind && { listenerSet: holder.metadata.name }),
    ...(said?.attachedRoutes !== undefined && { attachedRoutes: said.attachedRoutes }),
    ...(certificateName && { certificateName }),
    ...(certificate && { certificate }),
    ...(reason && { reason }),
  };
};

/** Of a certificate that is issued for the gateway, or that it was given; undefined of any other. */
const certificateOf = ({ plan, live, waiting, secrets }: Outlook, name: string, hostname: string, now: number): ListenerStatus['certificate'] => {
  const given = secrets.find(({ need }) => need.name === name && typeof need.key !== 'string');
  if (given) return servedCertificate(given, hostname, now);
  if (!plan.certificates.includes(name)) return undefined;
  const isLimited = waiting.some(({ wanted }) => wanted.certificate === name) && !live.certificates.some(({ metadata }) => metadata.name === name);
  return isLimited ? { ready: false, reason: 'RateLimited' } : certificateStatus(live.certificates, name);
};

const certificateStatus = (certificates: readonly Certificate[], name: string): NonNullable<ListenerStatus['certificate']> => {
  const certificate = certificates.find(({ metadata }) => metadata.name === name);
  const ready = certificate !== undefined && isIssued(certificate);
  const said = conditionOf(certificate?.status?.conditions, 'Ready');
  // What is said of an earlier spec gives no reason for this one.
  const reason = said?.status === 'False' && said.reason ? said.reason : 'Pending';
  return { ready, ...(certificate?.status?.notAfter && { notAfter: certificate.status.notAfter }), ...(!ready && { reason }) };
};

/** Kinds that a listener does not carry keep it from nothing: they are named where the data plane wants the same on all. */
const listenerFault = (conditions: readonly Condition[] | undefined): string | undefined => {
  if (!conditions || conditions.length === 0) return 'Pending';
  if (conditionOf(conditions, 'Accepted')?.status !== 'True') return 'NotAccepted';
  const references = conditionOf(conditions, 'ResolvedRefs');
  if (references?.status === 'False' && references.reason !== 'InvalidRouteKinds') return 'RefsNotResolved';
  return conditionOf(conditions, 'Programmed')?.status === 'True' ? undefined : 'NotProgrammed';
};

const isCertified = (certificates: readonly Certificate[], name: string): boolean => certificateStatus(certificates, name).ready;
