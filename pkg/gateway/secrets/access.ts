import type { KubeObject } from '../../../api/meta/v1/types.ts';
import { managedBy } from '../../controller/apply.ts';
import type { KubeClient } from '../../kube/client.ts';
import { partResources } from '../../tenant/part.ts';
import { secretsRole } from './permissions.ts';

const rbac = 'rbac.authorization.k8s.io';

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

/** Tells who the kube-apiserver takes us for: it is asked once, and again where that failed. What is returned throws StatusError. */
export const ownSubject = (client: Pick<KubeClient, 'json'>): (() => Promise<Subject>) => {
  const ask = async (): Promise<Subject> => {
    const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
    const review = await client.json<{ status: { userInfo: { username: string } } }>({ method: 'POST', path: '/apis/authentication.k8s.io/v1/selfsubjectreviews', body });
    return subjectOf(review.status.userInfo.username);
  };
  let subject: Promise<Subject> | undefined;
  return async () => {
    subject ??= ask();
    try {
      return await subject;
    } catch (error) {
      subject = undefined;
      throw error;
    }
  };
};

/** Gives the loop its rights on the Secrets of one namespace. */
export const accessBinding = (namespace: string, subject: Subject): KubeObject => ({
  apiVersion: partResources.roleBinding.apiVersion,
  kind: partResources.roleBinding.kind,
  metadata: { namespace, name: secretsRole, labels: { ...managedBy } },
  roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: secretsRole },
  subjects: [subject],
});
