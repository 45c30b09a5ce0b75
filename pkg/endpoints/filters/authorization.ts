import type { RequestHandler } from 'express';
import type { Attributes, Authorizer, Decision } from '../../authorization/authorizer.ts';
import { forbidden } from '../../authorization/forbidden.ts';
import { parseFieldSelector, parseLabelSelector } from '../../authorization/selectors.ts';
import { contextOf, type RequestContext } from '../context.ts';

const decisionAnnotation = 'authorization.k8s.io/decision';
const reasonAnnotation = 'authorization.k8s.io/reason';

/** Lets a request pass that its user may make; another is answered 403, and 503 where nobody can tell. */
export const withAuthorization = (authorizer: Authorizer): RequestHandler => async (_req, res, next) => {
  const context = contextOf(res);
  const attributes = authorizationAttributes(context);
  let decision: Decision;
  try {
    decision = await authorizer.authorize(attributes);
  } catch (error) {
    context.auditAnnotations.set(reasonAnnotation, 'internal error');
    throw error;
  }
  context.auditAnnotations.set(decisionAnnotation, decision.allowed ? 'allow' : 'forbid');
  context.auditAnnotations.set(reasonAnnotation, decision.reason);
  if (!decision.allowed) throw forbidden(attributes, decision.reason);
  next();
};

/** The request of a context as authorization sees it. A selector that cannot be read is left out: the wider request must then be permitted. */
export const authorizationAttributes = ({ user, requestInfo }: Pick<RequestContext, 'user' | 'requestInfo'>): Attributes => {
  const { isResourceRequest, verb, path, apiGroup, apiVersion, namespace, resource, subresource, name, fieldSelector, labelSelector } = requestInfo;
  return {
    user, isResourceRequest, verb, path, apiGroup, apiVersion, namespace, resource, subresource, name,
    ...(fieldSelector && { fieldRequirements: orNone(() => parseFieldSelector(fieldSelector)) }),
    ...(labelSelector && { labelRequirements: orNone(() => parseLabelSelector(labelSelector)) }),
  };
};

const orNone = <T>(parse: () => T[]): T[] => {
  try {
    return parse();
  } catch {
    return [];
  }
};
