import type { KubeObject } from '../../../api/meta/v1/types.ts';
import { managedBy, type RestResource } from '../../controller/apply.ts';
import type { KubeClient } from '../../kube/client.ts';
import { secretsRole } from './permissions.ts';

const rbac = 'rbac.authorization.k8s.io';

export const roleBindings: RestResource = { apiVersion: `${rbac}/v1`, kind: 'RoleBinding', plural: 'rolebindings' };

/** rbac.authorization.k8s.io/v1 Subject. */
export interface Subject {
  kind: 'ServiceAccount' | 'User';
  name: string;
  namespace?: string;
  apiGroup?: string;
}

/** The subject that a user's name means. */
export const subjectOf = (username: string): Subject => {
  const [, namespace, name] = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(username) ?? [];
  return namespace && name ? { kind: 'ServiceAccount', name, namespace } : { kind: 'User', name: username, apiGroup: rbac };
};

/** Who the kube-apiserver takes us for. @throws StatusError */
export const ownSubject = async (client: Pick<KubeClient, 'json'>): Promise<Subject> => {
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
  const review = await client.json<{ status: { userInfo: { username: string } } }>({ method: 'POST', path: '/apis/authentication.k8s.io/v1/selfsubjectreviews', body });
  return subjectOf(review.status.userInfo.username);
};

/** Gives the loop its rights on the Secrets of one namespace. */
export const accessBinding = (namespace: string, subject: Subject): KubeObject => ({
  apiVersion: roleBindings.apiVersion,
  kind: roleBindings.kind,
  metadata: { namespace, name: secretsRole, labels: { ...managedBy } },
  roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: secretsRole },
  subjects: [subject],
});
