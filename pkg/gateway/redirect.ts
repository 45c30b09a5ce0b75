import { undercuts, type Attachment } from './claims.ts';
import { isHost, isUnder, normalHost } from './hostnames.ts';
import { hostRedirect, httpListener, namesOf } from './names.ts';
import { gatewayGroup, type Route, type RouteMatch } from './types.ts';

const filters = [{ type: 'RequestRedirect', requestRedirect: { scheme: 'https', statusCode: 301 } }];
const parentRefsOf = (gateway: string) => [{ group: gatewayGroup, kind: 'Gateway', name: gateway, sectionName: httpListener }];

/** Gateway API's caps on matches, in a rule and in a route, and on headers in a match. */
const matchesPerRule = 64;
const matchesPerRoute = 127;
const headersPerMatch = 16;

export interface Redirects {
  /** `spec` of each HTTPRoute that redirects to https, by name. */
  specs: Map<string, object>;
  /** Routes that are answered in plain text all the same. */
  plain: Set<Route>;
}

/**
 * What port 80 answers with. One route redirects everything. A route of the gateway's own namespace that names no listener is
 * attached there too, and where it names a host it goes before that one: so each gets a redirect of its own that matches what it
 * matches and a header more, which by the rules of Gateway API goes before it.
 */
export const redirectsOf = (gateway: string, owner: string, apex: string, attachments: readonly Attachment[]): Redirects => {
  const specs = new Map<string, object>([[namesOf(gateway).redirect, { parentRefs: parentRefsOf(gateway), rules: [{ filters }] }]]);
  const plain = new Set<Route>();
  for (const { route } of attachments.filter((attachment) => undercuts(attachment, owner))) {
    const hostnames = [...new Set((route.spec?.hostnames ?? []).map(normalHost))];
    const matches = route.metadata.namespace === owner && hostnames.every((host) => isHost(host) && isUnder(host, apex)) ? closerMatches(route, hostnames) : undefined;
    if (matches) specs.set(hostRedirect(gateway, route.metadata.name!), { parentRefs: parentRefsOf(gateway), hostnames, rules: rulesOf(matches) });
    else plain.add(route);
  }
  return { specs, plain };
};

/** What a route matches, by host, with the host as a header: all requests have it. Undefined where Gateway API has no room for that. */
const closerMatches = ({ spec }: Route, hostnames: readonly string[]): RouteMatch[] | undefined => {
  const matched = (spec?.rules ?? [{}]).flatMap(({ matches }) => (matches?.length ? matches : [{ path: { type: 'PathPrefix', value: '/' } }]));
  const isFull = matched.some(({ headers = [] }) => headers.length >= headersPerMatch || headers.some(({ name }) => name.toLowerCase() === 'host'));
  const closer = hostnames.flatMap((host) => matched.map((match) => ({ ...match, headers: [...(match.headers ?? []), { name: 'Host', type: 'Exact', value: host }] })));
  return isFull || closer.length === 0 || closer.length > matchesPerRoute ? undefined : closer;
};

const rulesOf = (matches: readonly RouteMatch[]): object[] =>
  Array.from({ length: Math.ceil(matches.length / matchesPerRule) }, (_, index) => ({ matches: matches.slice(index * matchesPerRule, (index + 1) * matchesPerRule), filters }));
