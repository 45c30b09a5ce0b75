import { isDeepStrictEqual } from 'node:util';
import { toConditions, type Verdict } from '../controller/conditions.ts';
import { gatewayOf, type Attachment } from './claims.ts';
import { normalHost } from './hostnames.ts';
import { controllerName } from './names.ts';
import type { HttpRoute, ParentReference, RouteParentStatus } from './types.ts';

/** Gateway API's cap on `status.parents`. */
const parentLimit = 32;

/** A route whose `status.parents` is to be written. */
export interface RouteUpdate {
  route: HttpRoute;
  parents: RouteParentStatus[];
}

/**
 * What the routes' `status.parents` should say of gateway `key` (`namespace/name`), for those where it differs.
 * `routes` are all that refer to it, now or in an entry of ours that is out of date. Entries of other controllers stay.
 */
export const routeUpdates = (key: string, routes: readonly HttpRoute[], attachments: readonly Attachment[], leftOut: readonly string[], now: number): RouteUpdate[] => {
  const unplaced = new Set(leftOut);
  return routes.flatMap((route) => {
    const found = route.status?.parents ?? [];
    const { namespace = '', generation } = route.metadata;
    const isAboutKey = (entry: RouteParentStatus): boolean => entry.controllerName === controllerName && gatewayOf(entry.parentRef, namespace) === key;
    const entries = attachments
      .filter((attachment) => attachment.route.metadata.uid === route.metadata.uid)
      .map((attachment): RouteParentStatus => {
        const before = found.find((entry) => isAboutKey(entry) && isSame(entry.parentRef, attachment.parentRef));
        return { parentRef: attachment.parentRef, controllerName, conditions: toConditions([verdictOf(key, attachment, unplaced)], before?.conditions, generation, now) };
      });
    const parents = [...found.filter((entry) => !isAboutKey(entry)), ...entries].slice(0, parentLimit);
    return isDeepStrictEqual(inOrder(parents), inOrder(found)) ? [] : [{ route, parents }];
  });
};

const verdictOf = (key: string, { route, refused, lost }: Attachment, unplaced: ReadonlySet<string>): Verdict => {
  const left = (route.spec?.hostnames ?? []).map(normalHost).filter((host) => unplaced.has(host));
  const faults = [
    ...(lost.length > 0 ? [`served for another namespace: ${lost.join(', ')}`] : []),
    ...refused,
    ...(left.length > 0 ? [`no listener left: ${left.join(', ')}`] : []),
  ];
  if (faults.length === 0) return { type: 'Accepted', status: 'True', reason: 'Accepted', message: `Attached to TenantGateway ${key}` };
  const reason = lost.length > 0 ? 'HostnameConflict' : refused.length > 0 ? 'HostnameNotAllowed' : 'ListenerLimitReached';
  return { type: 'Accepted', status: 'False', reason, message: `TenantGateway ${key} does not serve: ${faults.join('; ')}` };
};

const isSame = (a: ParentReference, b: ParentReference): boolean => identity(a) === identity(b);

const identity = ({ namespace = '', name, sectionName = '', port = 0 }: ParentReference): string => `${namespace}/${name}/${sectionName}/${port}`;

const inOrder = (entries: readonly RouteParentStatus[]): RouteParentStatus[] =>
  entries.toSorted((a, b) => (`${a.controllerName} ${identity(a.parentRef)}` < `${b.controllerName} ${identity(b.parentRef)}` ? -1 : 1));
