import type { UserInfo } from '../../authentication/user.ts';
import type { RequestInfo } from '../request-info.ts';

/** As `request_kind` in the kube-apiserver's metrics. */
export type RequestKind = 'readOnly' | 'mutating';

const readingVerbs = new Set(['get', 'list', 'watch']);
/** The kube-apiserver's own users carry this group: what it asks for everybody must not wait for anybody. */
const privilegedGroup = 'system:masters';
const ownUsers = new Set(['system:kube-aggregator', 'system:aggregator', 'system:apiserver']);
const probes = /^\/(?:healthz|livez|readyz)(?:\/|$)/;

export const requestKindOf = ({ verb }: RequestInfo): RequestKind => (readingVerbs.has(verb) ? 'readOnly' : 'mutating');

/** Watches stay open for minutes, and cost nothing while they wait. */
export const isWatch = ({ verb }: RequestInfo): boolean => verb === 'watch';

/** What is never limited, as at the kube-apiserver's level `exempt`: probes, the kube-apiserver itself, and `system:masters`. */
export const isExempt = ({ isResourceRequest, path }: RequestInfo, { username, groups }: UserInfo): boolean =>
  groups.includes(privilegedGroup) || ownUsers.has(username) || (!isResourceRequest && probes.test(path));
