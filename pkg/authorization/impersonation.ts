import { allAuthenticated, allUnauthenticated, anonymousUser } from '../authentication/authenticator.ts';
import type { UserInfo } from '../authentication/user.ts';
import { hasCode, StatusError } from '../kube/status-error.ts';
import type { Attributes, Authorizer } from './authorizer.ts';
import { forbidden } from './forbidden.ts';
import { quotedList } from './go-text.ts';
import { faultOfExtra } from './impersonation-extra.ts';
import { isSubdomain } from './selectors.ts';
import { serviceAccountGroups, serviceAccountOf } from './service-account.ts';

/** Whose name a request is to be made in, as its headers say; nothing is added yet. */
export interface WantedUser {
  username: string;
  uid: string;
  /** undefined: none were given, and they follow from the user name. */
  groups?: readonly string[];
  extra?: Readonly<Record<string, readonly string[]>>;
}

export interface Impersonated {
  user: UserInfo;
  /** The constrained mode that allowed it, as in `impersonate:user-info` (KEP-5284); empty: plain impersonation. */
  constraint: string;
}

/**
 * One way in which impersonation may be permitted.
 * Undefined where it is not made for such a user.
 * @throws StatusError 403
 */
type Mode = (wanted: WantedUser, attributes: Attributes) => Promise<Impersonated | undefined>;

const systemMasters = 'system:masters';
const nodePrefix = 'system:node:';
const nodeNameKey = 'authentication.kubernetes.io/node-name';

/** From so many values on, a constrained mode asks for all (`*`) first. */
const manyChecks = 4;
const rememberedRequestors = 10_000;

/** Whether the requestor of `attributes` may make that request in another's name. @throws StatusError 403, 503 */
export type Impersonate = (wanted: WantedUser, attributes: Attributes) => Promise<Impersonated>;

/**
 * The kube-apiserver's own rules (1.37): constrained modes first, then plain impersonation. The mode that last let a requestor
 * through is tried first; the refusal is that of the mode tried first.
 */
export const impersonation = (authorizer: Authorizer): Impersonate => {
  const modes: readonly Mode[] = [
    associatedNode(authorizer),
    constrained(authorizer, 'arbitrary-node', (wanted) => onlyName(wanted) && nodeOf(wanted.username) !== undefined),
    constrained(authorizer, 'serviceaccount', (wanted) => onlyName(wanted) && serviceAccountOf(wanted.username) !== undefined),
    constrained(authorizer, 'user-info', ({ username }) => nodeOf(username) === undefined && serviceAccountOf(username) === undefined),
    plain(authorizer),
  ];
  const lastModes = new Map<string, Mode>();
  return async (wanted, attributes) => {
    const requestor = attributes.user.username;
    const last = lastModes.get(requestor);
    let refusal: StatusError | undefined;
    for (const mode of last ? [last, ...modes.filter((other) => other !== last)] : modes) {
      try {
        const found = await mode(wanted, attributes);
        if (!found) continue;
        remember(lastModes, requestor, mode);
        return found;
      } catch (error) {
        if (!hasCode(error, 403)) throw error;
        refusal ??= error;
      }
    }
    throw refusal ?? StatusError.internal('all impersonation modes failed');
  };
};

const remember = (lastModes: Map<string, Mode>, requestor: string, mode: Mode): void => {
  lastModes.delete(requestor);
  lastModes.set(requestor, mode);
  if (lastModes.size > rememberedRequestors) lastModes.delete(lastModes.keys().next().value!);
};

const onlyName = ({ uid, groups = [], extra = {} }: WantedUser): boolean => uid === '' && groups.length === 0 && Object.keys(extra).length === 0;

const nodeOf = (username: string): string | undefined => {
  const name = username.startsWith(nodePrefix) ? username.slice(nodePrefix.length) : '';
  return isSubdomain(name) ? name : undefined;
};

type Filter = (wanted: WantedUser, requestor: UserInfo) => boolean;

/** The request itself must be permitted under the mode, and then each thing that the requestor wants to be. */
const constrained = (authorizer: Authorizer, name: string, applies: Filter): Mode => async (wanted, attributes) => {
  if (!applies(wanted, attributes.user)) return undefined;
  await check(authorizer, { ...attributes, verb: `impersonate-on:${name}:${attributes.verb}` });
  return checkWanted(authorizer, `impersonate:${name}`, wanted, attributes.user);
};

const plain = (authorizer: Authorizer): Mode => (wanted, { user }) => checkWanted(authorizer, 'impersonate', wanted, user);

/** A ServiceAccount in the name of the node it runs on. The rule is one for all nodes: the name is `*`, and the extra values are only their keys. */
const associatedNode = (authorizer: Authorizer): Mode => {
  const forAnyNode = (attributes: Attributes): Attributes => ({
    ...attributes,
    user: { ...attributes.user, extra: { 'authentication.kubernetes.io/associated-node-keys': Object.keys(attributes.user.extra).toSorted() } },
    ...(attributes.verb === 'impersonate:associated-node' && { name: '*' }),
  });
  return constrained(
    { authorize: async (attributes) => check(authorizer, forAnyNode(attributes)) },
    'associated-node',
    (wanted, requestor) => onlyName(wanted) && serviceAccountOf(requestor.username) !== undefined && isNodeOf(wanted.username, requestor),
  );
};

const isNodeOf = (username: string, requestor: UserInfo): boolean => {
  const values = requestor.extra[nodeNameKey] ?? [];
  const node = nodeOf(username);
  return node !== undefined && values.length === 1 && values[0] === node;
};

const check = async (authorizer: Authorizer, attributes: Attributes): ReturnType<Authorizer['authorize']> => {
  const decision = await authorizer.authorize(attributes);
  if (!decision.allowed) throw forbidden(attributes, decision.reason);
  return decision;
};

const authenticationGroup = { apiGroup: 'authentication.k8s.io', apiVersion: 'v1' } as const;
const coreGroup = { apiGroup: '', apiVersion: 'v1' } as const;

const checkWanted = async (authorizer: Authorizer, verb: string, wanted: WantedUser, requestor: UserInfo): Promise<Impersonated> => {
  const isConstrained = verb !== 'impersonate';
  const names = isConstrained ? authenticationGroup : coreGroup;
  const about = (group: typeof names, resource: string, name: string, subresource = ''): Attributes => ({
    user: requestor, isResourceRequest: true, verb, path: '', ...group, namespace: '', resource, subresource, name,
  });

  const groups = await checkUsername(authorizer, about(names, 'users', wanted.username), wanted, isConstrained);
  if (wanted.uid !== '') await check(authorizer, about(authenticationGroup, 'uids', wanted.uid));
  await checkGroups(authorizer, about(names, 'groups', ''), wanted.groups ?? [], isConstrained);
  await checkExtra(authorizer, about(authenticationGroup, 'userextras', ''), wanted.extra ?? {}, isConstrained);
  return {
    user: { username: wanted.username, ...(wanted.uid && { uid: wanted.uid }), groups: withImplied(wanted.username, groups), extra: wanted.extra ?? {} },
    constraint: isConstrained ? verb : '',
  };
};

/** Gives the groups that the user then has. */
const checkUsername = async (authorizer: Authorizer, attributes: Attributes, { username, groups = [] }: WantedUser, isConstrained: boolean): Promise<readonly string[]> => {
  const node = isConstrained ? nodeOf(username) : undefined;
  const account = serviceAccountOf(username);
  if (node !== undefined) {
    const asNode = { ...attributes, resource: 'nodes', name: node };
    if (groups.length > 0) throw forbidden(asNode, `when impersonating a node, cannot impersonate groups ${quotedList(groups)}`);
    await check(authorizer, asNode);
    return ['system:nodes'];
  }
  if (account) {
    const asAccount = { ...attributes, resource: 'serviceaccounts', ...account };
    if (isConstrained && groups.length > 0) throw forbidden(asAccount, `when impersonating a service account, cannot impersonate groups ${quotedList(groups)}`);
    await check(authorizer, asAccount);
    return groups.length > 0 ? groups : serviceAccountGroups(account.namespace);
  }
  await check(authorizer, attributes);
  return groups;
};

const checkGroups = async (authorizer: Authorizer, attributes: Attributes, groups: readonly string[], isConstrained: boolean): Promise<void> => {
  if (isConstrained) {
    if (groups.includes('')) throw forbidden(attributes, 'impersonating the empty string group is not allowed');
    if (groups.includes(systemMasters)) throw forbidden({ ...attributes, name: systemMasters }, 'impersonating the system:masters group is not allowed');
    if (groups.length >= manyChecks && (await permitted(authorizer, { ...attributes, name: '*' }))) return;
  }
  for (const name of groups) await check(authorizer, { ...attributes, name });
};

const checkExtra = async (authorizer: Authorizer, attributes: Attributes, extra: Readonly<Record<string, readonly string[]>>, isConstrained: boolean): Promise<void> => {
  const pairs = Object.entries(extra).flatMap(([subresource, values]) => values.map((name) => ({ subresource, name })));
  if (isConstrained && Object.keys(extra).length > 0) {
    const fault = faultOfExtra(extra);
    if (fault) throw forbidden(attributes, fault);
    const many = pairs.length >= manyChecks || Object.keys(extra).length >= manyChecks;
    if (many && (await permitted(authorizer, { ...attributes, subresource: '*', name: '*' }))) return;
  }
  for (const pair of pairs) await check(authorizer, { ...attributes, ...pair });
};

const permitted = async (authorizer: Authorizer, attributes: Attributes): Promise<boolean> => {
  try {
    return (await check(authorizer, attributes)).allowed;
  } catch (error) {
    if (hasCode(error, 403)) return false;
    throw error;
  }
};

const withImplied = (username: string, groups: readonly string[]): readonly string[] => {
  const implied = username === anonymousUser ? allUnauthenticated : allAuthenticated;
  if (groups.includes(implied) || (username !== anonymousUser && groups.includes(allUnauthenticated))) return groups;
  return [...groups, implied];
};
