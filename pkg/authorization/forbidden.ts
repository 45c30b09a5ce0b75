import { StatusError } from '../kube/status-error.ts';
import type { Attributes } from './authorizer.ts';
import { quoted } from './go-text.ts';

/** The 403 that the kube-apiserver gives, word by word. */
export const forbidden = (attributes: Attributes, reason: string): StatusError => {
  const { apiGroup: group, resource, name } = attributes;
  const why = withoutMarkup(what(attributes)) + (reason ? `: ${reason}` : '');
  const details = { ...(name && { name }), ...(group && { group }), ...(resource && { kind: resource }) };
  return new StatusError(403, 'Forbidden', subject(group, resource, name) + why, details);
};

const what = ({ user, isResourceRequest, verb, path, apiGroup, resource, subresource, namespace }: Attributes): string => {
  const who = `User ${quoted(user.username)} cannot ${verb}`;
  if (!isResourceRequest) return `${who} path ${quoted(path)}`;
  const scope = namespace ? `in the namespace ${quoted(namespace)}` : 'at the cluster scope';
  return `${who} resource ${quoted(subresource ? `${resource}/${subresource}` : resource)} in API group ${quoted(apiGroup)} ${scope}`;
};

const subject = (group: string, resource: string, name: string): string => {
  if (!group && !resource) return 'forbidden: ';
  const qualified = group ? `${resource}.${group}` : resource;
  return name ? `${qualified} ${quoted(name)} is forbidden: ` : `${qualified} is forbidden: `;
};

/** Nothing of the request may come back as HTML. */
const withoutMarkup = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
