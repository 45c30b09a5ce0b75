import { createHash } from 'node:crypto';
import { encodeDocument, type Document } from './document.ts';
import { groupsOf, type ServedResource } from './served.ts';

/** meta/v1 APIResource, fields in the order in which Kubernetes writes them. */
export interface ApiResource {
  name: string;
  singularName: string;
  namespaced: boolean;
  kind: string;
  verbs: readonly string[];
  shortNames?: readonly string[];
  categories?: readonly string[];
  storageVersionHash?: string;
}

export interface ApiResourceList {
  kind: 'APIResourceList';
  apiVersion: 'v1';
  groupVersion: string;
  resources: ApiResource[];
}

interface GroupVersionForDiscovery {
  groupVersion: string;
  version: string;
}

export interface ApiGroup {
  kind?: 'APIGroup';
  apiVersion?: 'v1';
  name: string;
  versions: GroupVersionForDiscovery[];
  preferredVersion: GroupVersionForDiscovery;
}

/** Content types of the aggregated document (KEP-3352), by the version of apidiscovery.k8s.io that a client asks for. */
export const aggregatedContentTypes = {
  v2: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
  v2beta1: 'application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList',
} as const;

const apiGroups = (resources: readonly ServedResource[]): ApiGroup[] =>
  groupsOf(resources).map(({ group, versions }) => {
    const [preferred, ...others] = versions.map(({ version }) => ({ groupVersion: `${group}/${version}`, version }));
    if (!preferred) throw new Error(`group ${group} has no version`);
    return { name: group, versions: [preferred, ...others], preferredVersion: preferred };
  });

/** `/apis`: every group. The first version of each group is the preferred one. */
export const apiGroupList = (resources: readonly ServedResource[]): { kind: 'APIGroupList'; apiVersion: 'v1'; groups: ApiGroup[] } => ({
  kind: 'APIGroupList',
  apiVersion: 'v1',
  groups: apiGroups(resources),
});

/** `/apis/<group>`; nothing where no such group is served. */
export const apiGroup = (resources: readonly ServedResource[], group: string): ApiGroup | undefined => {
  const found = apiGroups(resources).find(({ name }) => name === group);
  return found && { kind: 'APIGroup', apiVersion: 'v1', ...found };
};

/** `/apis/<group>/<version>`; nothing where no such version is served. */
export const apiResourceList = (resources: readonly ServedResource[], group: string, version: string): ApiResourceList | undefined => {
  const served = resources.filter(({ definition }) => definition.group === group && definition.version === version);
  if (served.length === 0) return undefined;
  return { kind: 'APIResourceList', apiVersion: 'v1', groupVersion: `${group}/${version}`, resources: served.flatMap(apiResources) };
};

const names = (shortNames: readonly string[], categories: readonly string[]) => ({
  ...(shortNames.length > 0 && { shortNames }),
  ...(categories.length > 0 && { categories }),
});

const apiResources = ({ definition, verbs, statusVerbs }: ServedResource): ApiResource[] => {
  const { group, version, kind, plural, singular, namespaced, shortNames, categories } = definition;
  const resource: ApiResource = {
    name: plural,
    singularName: singular,
    namespaced,
    kind,
    verbs,
    ...names(shortNames, categories),
    storageVersionHash: storageVersionHash(group, version, kind),
  };
  if (!statusVerbs) return [resource];
  return [resource, { name: `${plural}/status`, singularName: '', namespaced, kind, verbs: statusVerbs }];
};

/** Tells clients which version objects are stored in; ours have one. */
const storageVersionHash = (group: string, version: string, kind: string): string =>
  createHash('sha256').update(`${group}/${version}/${kind}`).digest().subarray(0, 8).toString('base64');

interface ApiResourceDiscovery {
  resource: string;
  responseKind: { group: string; version: string; kind: string };
  scope: 'Namespaced';
  singularResource: string;
  verbs: readonly string[];
  shortNames?: readonly string[];
  categories?: readonly string[];
  subresources?: { subresource: string; responseKind: { group: string; version: string; kind: string }; verbs: readonly string[] }[];
}

const resourceDiscovery = ({ definition, verbs, statusVerbs }: ServedResource): ApiResourceDiscovery => {
  const { group, version, kind, plural, singular, shortNames, categories } = definition;
  const responseKind = { group, version, kind };
  return {
    resource: plural,
    responseKind,
    scope: 'Namespaced',
    singularResource: singular,
    verbs,
    ...names(shortNames, categories),
    ...(statusVerbs && { subresources: [{ subresource: 'status', responseKind, verbs: statusVerbs }] }),
  };
};

export interface ApiGroupDiscoveryList {
  kind: 'APIGroupDiscoveryList';
  apiVersion: string;
  metadata: Record<string, never>;
  items: {
    metadata: { name: string; creationTimestamp: null };
    versions: { version: string; resources: ApiResourceDiscovery[]; freshness: 'Current' }[];
  }[];
}

/** `/apis` for clients that ask for everything at once. */
export const apiGroupDiscoveryList = (resources: readonly ServedResource[], version: keyof typeof aggregatedContentTypes): ApiGroupDiscoveryList => ({
  kind: 'APIGroupDiscoveryList',
  apiVersion: `apidiscovery.k8s.io/${version}`,
  metadata: {},
  items: groupsOf(resources).map(({ group, versions }) => ({
    metadata: { name: group, creationTimestamp: null },
    versions: versions.map((served) => ({
      version: served.version,
      resources: served.resources.map(resourceDiscovery).toSorted((a, b) => (a.resource < b.resource ? -1 : 1)),
      freshness: 'Current',
    })),
  })),
});

/** Every discovery document by path, encoded once. `/apis` has an aggregated form as well, which is chosen by Accept. */
export interface DiscoveryDocuments {
  byPath: ReadonlyMap<string, Document>;
  aggregated: Readonly<Record<keyof typeof aggregatedContentTypes, Document>>;
}

export const discoveryDocuments = (resources: readonly ServedResource[]): DiscoveryDocuments => {
  const byPath = new Map([['/apis', encodeDocument(apiGroupList(resources))]]);
  for (const { group, versions } of groupsOf(resources)) {
    byPath.set(`/apis/${group}`, encodeDocument(apiGroup(resources, group)));
    for (const { version } of versions) byPath.set(`/apis/${group}/${version}`, encodeDocument(apiResourceList(resources, group, version)));
  }
  const aggregated = (version: keyof typeof aggregatedContentTypes): Document =>
    encodeDocument(apiGroupDiscoveryList(resources, version), aggregatedContentTypes[version]);
  return { byPath, aggregated: { v2: aggregated('v2'), v2beta1: aggregated('v2beta1') } };
};
