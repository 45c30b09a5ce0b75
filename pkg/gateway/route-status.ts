import { isDeepStrictEqual } from 'node:util';
import type { Condition } from '../../api/meta/v1/types.ts';
import { conditionOf, toConditions, type Verdict } from '../controller/conditions.ts';
import { gatewayOf, undercuts, type Attachment, type Fault } from './claims.ts';
import { controllerName } from './names.ts';
import type { Plan } from './plan.ts';
import type { ParentReference, Route, RouteParentStatus } from './types.ts';

/** Gateway API's cap on `status.parents`. */
const parentLimit = 32;

/** A route whose `status.parents` is to be written. */
export interface RouteUpdate {
  route: Route;
  parents: RouteParentStatus[];
  /** What is new to who made the route: it is refused, for this reason, or no longer so. */
  news: Verdict | undefined;
}

/**
 * What the routes' `status.parents` should say of gateway `key` (`namespace/name`), for those where it differs.
 * `routes` are all that refer to it, now or in an entry of ours that is out of date. Entries of other controllers stay.
 */
export const routeUpdates = (key: string, routes: readonly Route[], { attachments, plain }: Pick<Plan, 'attachments' | 'plain'>, now: number): RouteUpdate[] => {
  const byRoute = Map.groupBy(attachments, ({ route }) => route.metadata.uid);
  return routes.flatMap((route) => {
    const found = route.status?.parents ?? [];
    const { namespace = '', generation } = route.metadata;
    const isAboutKey = (entry: RouteParentStatus): boolean => entry.controllerName === controllerName && gatewayOf(entry.parentRef, namespace) === key;
    const entries = (byRoute.get(route.metadata.uid) ?? []).map((attachment) => {
      const before = found.find((entry) => isAboutKey(entry) && identity(entry.parentRef) === identity(attachment.parentRef))?.conditions;
      const verdicts = verdictsOf(key, attachment, plain);
      return { status: { parentRef: attachment.parentRef, controllerName, conditions: toConditions(verdicts, before, generation, now) }, news: newsOf(verdicts[0]!, before) };
    });
    const parents = [...found.filter((entry) => !isAboutKey(entry)), ...entries.map(({ status }) => status)].slice(0, parentLimit);
    return isDeepStrictEqual(inOrder(parents), inOrder(found)) ? [] : [{ route, parents, news: entries.find(({ news }) => news)?.news }];
  });
};

const verdictsOf = (key: string, attachment: Attachment, plain: ReadonlySet<Route>): Verdict[] => {
  const [first, ...more] = attachment.faults.toSorted((a, b) => order.indexOf(a.reason) - order.indexOf(b.reason));
  const accepted: Verdict = first
    ? { type: 'Accepted', status: 'False', reason: first.reason, message: `TenantGateway ${key} does not serve all of it: ${[first, ...more].map(({ message }) => message).join('; ')}` }
    : { type: 'Accepted', status: 'True', reason: 'Accepted', message: `Attached to TenantGateway ${key}` };
  return plain.has(attachment.route) && undercuts(attachment, key.slice(0, key.indexOf('/'))) ? [accepted, plaintext] : [accepted];
};

/** Which of several reasons stands for all. */
const order: Fault['reason'][] = ['NotAllowedByListeners', 'HostnameRequired', 'HostnameConflict', 'HostnameNotAllowed', 'NoMatchingParent', 'ListenerLimitReached'];

const plaintext: Verdict = {
  type: 'Redirected',
  status: 'False',
  reason: 'ServedInPlainText',
  message: 'parentRef names no listener, so the route is attached to port 80 too, and answers there instead of the redirect to https: set port 443 or a sectionName',
};

/** That all is well from the beginning is none. */
const newsOf = (accepted: Verdict, before: readonly Condition[] | undefined): Verdict | undefined => {
  const said = conditionOf(before, accepted.type);
  if (accepted.status === 'True') return said?.status === 'False' ? accepted : undefined;
  return said?.reason === accepted.reason ? undefined : accepted;
};

const identity = ({ kind = 'Gateway', namespace = '', name, sectionName = '', port = 0 }: ParentReference): string => `${kind}/${namespace}/${name}/${sectionName}/${port}`;

const inOrder = (entries: readonly RouteParentStatus[]): RouteParentStatus[] =>
  entries.toSorted((a, b) => (`${a.controllerName} ${identity(a.parentRef)}` < `${b.controllerName} ${identity(b.parentRef)}` ? -1 : 1));
