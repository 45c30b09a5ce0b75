import { compare } from './compare.ts';
import { above, isUnder, isWildcard } from './hostnames.ts';
import type { KubeObject } from '../../api/meta/v1/types.ts';
import type { Observed } from './plan.ts';
import type { Gateway, Listener, ListenerSet, Route, RouteMatch } from './types.ts';

/** A data plane by the rules of Gateway API, for tests: it knows the objects that a plan makes, and nothing of how they came about. */
export interface DataPlane {
  /** The routes that answer requests for a host on a port; on 443, to clients that look at the certificate. */
  answering(host: string, port: number): Route[];
  /** The one that answers a GET of a path. */
  answers(host: string, port: number, path: string): Route | undefined;
}

interface Selector {
  matchLabels?: Record<string, string>;
  matchExpressions?: { key: string; operator: 'In' | 'DoesNotExist'; values?: string[] }[];
}

const carries: Record<string, string> = { HTTPRoute: 'HTTP HTTPS', GRPCRoute: 'HTTP HTTPS', TLSRoute: 'TLS' };

/** `given` are the names in certificates that nobody issues here, by Secret. */
export const dataPlane = ({ gateway, sets, certificates, redirects }: Observed['live'], routes: readonly Route[], namespaces: readonly KubeObject[], given: Record<string, string[]> = {}): DataPlane => {
  const labelsOf = new Map(namespaces.map(({ metadata }) => [metadata.name, metadata.labels ?? {}]));
  const sans = new Map([...Object.entries(given), ...certificates.map(({ spec }) => [spec!.secretName, spec!.dnsNames ?? []] as const)]);
  // Sets only attach to a Gateway that lets them.
  const holders: (Gateway | ListenerSet)[] = [...(gateway ? [gateway] : []), ...(gateway?.spec?.allowedListeners ? sets : [])];
  const listeners = holders.flatMap((holder) => holder.spec!.listeners.map((listener) => ({ holder, listener })));

  const attaches = (route: Route, holder: KubeObject, listener: Listener): boolean => {
    const { namespaces: from, kinds } = listener.allowedRoutes as { namespaces: { selector: Selector }; kinds?: { kind: string }[] };
    const named = route.spec?.parentRefs?.some(
      ({ kind = 'Gateway', namespace = route.metadata.namespace, name, sectionName = listener.name, port = listener.port }) =>
        kind === holder.kind && namespace === holder.metadata.namespace && name === holder.metadata.name && sectionName === listener.name && port === listener.port,
    );
    const isOfKind = carries[route.kind!]!.split(' ').includes(listener.protocol) && (!kinds || kinds.some(({ kind }) => kind === route.kind));
    return named === true && isOfKind && selects(from.selector, labelsOf.get(route.metadata.namespace) ?? {}) && (!listener.hostname || hostnamesOf(route).some((host) => overlap(host, listener.hostname!)));
  };
  const isCovered = (host: string, { tls }: Listener): boolean => {
    if (tls?.mode !== 'Terminate') return true;
    const names = sans.get(tls.certificateRefs![0]!.name) ?? [];
    return names.includes(host) || names.includes(`*.${above(host)}`);
  };
  const answering: DataPlane['answering'] = (host, port) => {
    const meets = listeners.filter(({ listener }) => listener.port === port && (!listener.hostname || matches(listener.hostname, host)));
    const closest = meets.toSorted((a, b) => weight(b.listener.hostname, host) - weight(a.listener.hostname, host))[0];
    if (!closest || !isCovered(host, closest.listener)) return [];
    const attached = [...routes, ...redirects].filter((route) => attaches(route, closest.holder, closest.listener) && hostnamesOf(route).some((hostname) => matches(hostname, host)));
    const weightOf = (route: Route): number => Math.max(...hostnamesOf(route).filter((hostname) => matches(hostname, host)).map((hostname) => weight(hostname, host)));
    const heaviest = Math.max(...attached.map(weightOf));
    return attached.filter((route) => weightOf(route) === heaviest);
  };
  return {
    answering,
    answers: (host, port, path) => {
      const ranked = answering(host, port).flatMap((route) => matchesOf(route).flatMap((match) => (fits(match, host, path) ? [{ route, rank: rankOf(match) }] : [])));
      return ranked.toSorted((a, b) => compareRanks(b.rank, a.rank) || compare(createdAt(a.route), createdAt(b.route)) || compare(a.route.metadata.name!, b.route.metadata.name!))[0]?.route;
    },
  };
};

const matchesOf = ({ spec }: Route): RouteMatch[] => (spec?.rules ?? [{}]).flatMap(({ matches: found }) => (found?.length ? found : [{}]));
const fits = ({ path: { type = 'PathPrefix', value = '/' } = {}, headers = [], method = 'GET' }: RouteMatch, host: string, path: string): boolean =>
  method === 'GET' && (type === 'Exact' ? path === value : path === value || path.startsWith(value.replace(/\/?$/, '/'))) && headers.every(({ name, value: wanted }) => (name.toLowerCase() === 'host' ? wanted === host : false));
/** Exact before prefix, the longer prefix first, then a method, then more headers. */
const rankOf = ({ path: { type = 'PathPrefix', value = '/' } = {}, headers = [], method }: RouteMatch): number[] => [Number(type === 'Exact'), value.length, Number(method !== undefined), headers.length];
const compareRanks = (a: readonly number[], b: readonly number[]): number => a.map((rank, index) => rank - b[index]!).find((difference) => difference !== 0) ?? 0;
const createdAt = ({ metadata }: Route): string => metadata.creationTimestamp ?? '9';

/** '*' stands for any. */
const hostnamesOf = ({ spec }: Route): string[] => (spec?.hostnames?.length ? spec.hostnames : ['*']);
const matches = (pattern: string, host: string): boolean => pattern === '*' || pattern === host || (isWildcard(pattern) && host !== above(pattern) && isUnder(host, above(pattern)));
const overlap = (a: string, b: string): boolean => matches(a, b) || matches(b, a) || (isWildcard(a) && isWildcard(b) && (isUnder(above(a), above(b)) || isUnder(above(b), above(a))));
const weight = (pattern: string | undefined, host: string): number => (pattern === undefined || pattern === '*' ? 0 : pattern === host ? 1000 : pattern.length);

const selects = ({ matchLabels = {}, matchExpressions = [] }: Selector, labels: Record<string, string>): boolean =>
  Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
  matchExpressions.every(({ key, operator, values }) => (operator === 'In' ? labels[key] !== undefined && values!.includes(labels[key]) : labels[key] === undefined));
