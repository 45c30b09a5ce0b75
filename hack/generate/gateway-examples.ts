import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { parse, stringify } from 'yaml';
import type { TenantGateway } from '../../api/gateway/v1alpha1/tenantgateway.ts';
import type { KubeObject } from '../../api/meta/v1/types.ts';
import { defaultIssuers } from '../../pkg/gateway/issuance/issuers.ts';
import { attachLabel, hostLabel } from '../../pkg/gateway/names.ts';
import { plan, type Plan } from '../../pkg/gateway/plan.ts';
import { routeUpdates } from '../../pkg/gateway/route-status.ts';
import type { Route } from '../../pkg/gateway/types.ts';
import type { GeneratedFile } from './record-crds.ts';

interface Tree {
  namespaces: Record<string, { attach: string; host?: string }>;
  gateway: TenantGateway;
  modes: Record<string, Partial<TenantGateway['spec']>>;
  routes: { kind: string; route: string; hostnames: string[]; sectionName?: string; port?: number }[];
}

const folder = 'docs/examples/gateways';
/** When everything of the tree was made, and when it is looked at. */
const made = '2026-12-01T00:00:00Z';

/** All that one gateway makes, in each mode, for a reader to see. */
export const gatewayExamples = async (): Promise<GeneratedFile[]> => {
  const tree = parse(await readFile(path.resolve(import.meta.dirname, '../..', folder, 'tree.yaml'), 'utf8')) as Tree;
  return Object.entries(tree.modes).map(([mode, spec]) => ({ path: `${folder}/${mode}.yaml`, text: textOf(tree, { ...tree.gateway, spec: { ...tree.gateway.spec, ...spec } }) }));
};

const textOf = ({ namespaces, routes }: Tree, gateway: TenantGateway): string => {
  const seen = routes.map(routeOf);
  const done = plan({
    gateway,
    attached: Object.entries(namespaces).map(namespaceOf),
    routes: seen,
    live: { gateway: undefined, issuer: undefined, redirects: [], certificates: [], sets: [], account: undefined },
    abilities: { listenerSets: false, mergesKinds: true },
    missing: new Set(),
    issuers: defaultIssuers,
    given: new Map(),
  });
  const documents = [gateway, ...done.actions.flatMap((action) => (action.do === 'apply' ? [action.desired] : []))];
  const header = '# Made from tree.yaml by `npm run update`; do not edit. The TenantGateway, then what it becomes, then what its routes are told.\n';
  return header + [...documents.map(toYaml), ...toldOf(done, seen, gateway)].join('---\n');
};

const toYaml = (object: unknown): string => stringify(object, { lineWidth: 0, aliasDuplicateObjects: false });

/** `status.parents` of each route, shortened to what a person looks at. */
const toldOf = (done: Plan, routes: readonly Route[], { metadata }: TenantGateway): string[] =>
  routeUpdates(`${metadata.namespace}/${metadata.name}`, routes, done, Date.parse(made)).map(({ route, parents }) => {
    const conditions = parents.flatMap((parent) => parent.conditions ?? []).map(({ type, status, reason, message }) => ({ type, status, reason, message }));
    return toYaml({ kind: route.kind, metadata: { name: route.metadata.name, namespace: route.metadata.namespace }, spec: { hostnames: route.spec?.hostnames }, status: { conditions } });
  });

const namespaceOf = ([name, { attach, host }]: [string, Tree['namespaces'][string]]): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name, creationTimestamp: made, labels: { [attachLabel(attach)]: '', ...(host && { [hostLabel]: host }) } },
});

const routeOf = ({ kind, route, hostnames, sectionName, port }: Tree['routes'][number]): Route => {
  const [namespace, name] = route.split('/');
  const parentRef = { name: 'cozystack', namespace: 'tenant-root', ...(sectionName && { sectionName }), ...(port && { port }) };
  return { apiVersion: 'gateway.networking.k8s.io/v1', kind, metadata: { namespace, name, uid: `${kind}/${route}`, generation: 1, creationTimestamp: made }, spec: { parentRefs: [parentRef], hostnames } };
};
