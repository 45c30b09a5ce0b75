import type { KubeObject } from '../../api/meta/v1/types.ts';

/** Capsule's mark of what is not to be changed: a label or an annotation of a Tenant, and a label of the namespaces of it and of all below. */
export const cordonMark = 'projectcapsule.dev/cordoned';

/** Whether a Tenant itself is cordoned; those below it are by it. */
export const isCordoned = ({ metadata: { labels, annotations } }: KubeObject): boolean => labels?.[cordonMark] === 'true' || annotations?.[cordonMark] === 'true';

/** What the deletion of a tenant means for those below it. */
export const deletionPolicyAnnotation = 'tenant.cozystack.io/deletion-policy';
/** `refuse`, which is also what no annotation says: those below come first. `cascade`: they go with it. */
export const deletionPolicies: readonly string[] = ['refuse', 'cascade'];

export const isCascading = ({ metadata: { annotations } }: KubeObject): boolean => annotations?.[deletionPolicyAnnotation] === 'cascade';
