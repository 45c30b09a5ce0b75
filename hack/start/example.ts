import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { parseAllDocuments } from 'yaml';
import type { Tenant } from '../../api/apps/v1alpha1/tenant.ts';
import type { TenantGateway } from '../../api/gateway/v1alpha1/tenantgateway.ts';
import type { KubeObject } from '../../api/meta/v1/types.ts';
import { hostCertificate, namesOf } from '../../pkg/gateway/names.ts';
import type { Gateway } from '../../pkg/gateway/types.ts';
import { gatewayName } from '../../pkg/tenant/names.ts';
import type { Answer, Call } from '../controlplane/request.ts';
import { messageOf } from './answers.ts';

/** Sends one request as administrator; error statuses do not throw. */
export type Send = (request: Call) => Promise<Answer>;

const fieldManager = 'npm-start';
const everyMs = 100;
const plurals: Readonly<Record<string, string>> = { Tenant: 'tenants', HTTPRoute: 'httproutes' };

const appsApi = '/apis/apps.cozystack.io/v1alpha1';
const gatewaysApi = '/apis/gateway.cozystack.io/v1alpha1';
const routesApi = '/apis/gateway.networking.k8s.io/v1';
const certificatesApi = '/apis/cert-manager.io/v1';

const treeTenants = [['tenant-root', 'root'], ['tenant-root', 'acme'], ['tenant-acme', 'dev']] as const;
const treeGateways = ['tenant-root', 'tenant-acme'];
const publishedHost = 'app.dev.acme.example.org';
const publishedBy = 'tenant-acme';

/** Makes the tree of `example.yaml`. Never ends by itself while something is in the way: `waiting` hears what that is. */
export const applyExample = async (send: Send, stopped: () => boolean, waiting: (what: string) => void): Promise<void> => {
  const documents = parseAllDocuments(await readFile(path.join(import.meta.dirname, 'example.yaml'), 'utf8'));
  for (const object of documents.map((document) => document.toJS() as KubeObject)) {
    await until(() => obstacleTo(send, object), stopped, waiting);
  }
};

/** Resolves once tenants are ready and gateways have made their objects. */
export const waitForExample = (send: Send, stopped: () => boolean, waiting: (what: string) => void): Promise<void> =>
  until(async () => (await missing(send))[0], stopped, waiting);

/** Calls until nothing is in the way. A refused or broken connection is something in the way. */
const until = async (obstacle: () => Promise<string | undefined>, stopped: () => boolean, waiting: (what: string) => void): Promise<void> => {
  while (!stopped()) {
    const found = await obstacle().catch((error: Error) => error.message);
    if (found === undefined) return;
    waiting(found);
    await setTimeout(everyMs);
  }
};

const obstacleTo = async (send: Send, object: KubeObject): Promise<string | undefined> => {
  const { namespace, name } = object.metadata;
  const home = await read(send, `/api/v1/namespaces/${namespace}`);
  if (!home) return `namespace ${namespace} does not exist yet`;
  if (home.metadata.deletionTimestamp) return `namespace ${namespace} is being deleted`;
  const collection = `/apis/${object.apiVersion}/namespaces/${namespace}/${plurals[object.kind!]}`;
  if ((await read(send, `${collection}/${name}`))?.metadata.deletionTimestamp) return `${object.kind} ${namespace}/${name} is being deleted`;
  const answer = await send({
    method: 'PATCH',
    path: `${collection}/${name}?fieldManager=${fieldManager}&force=true&fieldValidation=Strict`,
    headers: { 'content-type': 'application/apply-patch+yaml' },
    body: object,
  });
  return answer.status < 300 ? undefined : `${object.kind} ${namespace}/${name} cannot be applied: ${messageOf(answer)}`;
};

/** What the tree lacks, in words. */
export const missing = async (send: Send): Promise<string[]> => {
  const tenants = treeTenants.map(async ([namespace, name]) => {
    const tenant = await read<Tenant>(send, `${appsApi}/namespaces/${namespace}/tenants/${name}`);
    return tenantFault(`tenant ${namespace}/${name}`, tenant);
  });
  const gateways = treeGateways.map(async (namespace) => {
    const [gateway, ...made] = await Promise.all([
      read<TenantGateway>(send, `${gatewaysApi}/namespaces/${namespace}/tenantgateways/${gatewayName}`),
      ...objectsOf(namespace).map(async ({ what, path: object }) => ((await read(send, object)) ? undefined : `${what} does not exist`)),
    ]);
    return made.find((fault) => fault !== undefined) ?? gatewayFault(`tenant gateway ${namespace}/${gatewayName}`, gateway);
  });
  const listener = read<Gateway>(send, `${routesApi}/namespaces/${publishedBy}/gateways/${gatewayName}`).then((gateway) =>
    gateway?.spec?.listeners?.some(({ hostname }) => hostname === publishedHost) ? undefined : `gateway ${publishedBy}/${gatewayName} has no listener for ${publishedHost}`,
  );
  return (await Promise.all([...tenants, ...gateways, listener])).filter((fault) => fault !== undefined);
};

const objectsOf = (namespace: string): { what: string; path: string }[] => {
  const { gateway, issuer, redirect } = namesOf(gatewayName);
  const certificate = hostCertificate(gatewayName, publishedHost);
  const object = (api: string, plural: string, name: string) => ({ what: `${plural}/${name} in ${namespace}`, path: `${api}/namespaces/${namespace}/${plural}/${name}` });
  return [
    object(routesApi, 'gateways', gateway),
    object(certificatesApi, 'issuers', issuer),
    object(routesApi, 'httproutes', redirect),
    ...(namespace === publishedBy ? [object(certificatesApi, 'certificates', certificate)] : []),
  ];
};

/** Why a tenant is not ready, as far as its status is about its present spec. */
export const tenantFault = (what: string, tenant: Tenant | undefined): string | undefined => {
  if (!tenant) return `${what} does not exist`;
  const ready = tenant.status?.conditions?.find(({ type }) => type === 'Ready');
  if (!ready || tenant.status?.observedGeneration !== tenant.metadata.generation) return `${what} was not looked at yet`;
  return ready.status === 'True' ? undefined : `${what} is not ready: ${ready.reason}: ${ready.message}`;
};

/** Ready it never gets here, where nothing serves a Gateway: that it was looked at and not refused is all to be had. */
export const gatewayFault = (what: string, gateway: TenantGateway | undefined): string | undefined => {
  if (!gateway) return `${what} does not exist`;
  const accepted = gateway.status?.conditions?.find(({ type }) => type === 'Accepted');
  if (!accepted || gateway.status?.observedGeneration !== gateway.metadata.generation) return `${what} was not looked at yet`;
  return accepted.status === 'True' || accepted.reason === 'GatewayNotAccepted' ? undefined : `${what} was refused: ${accepted.reason}: ${accepted.message}`;
};

/** Undefined where it does not exist. Throws with the message of any other refusal. */
const read = async <T extends { metadata: KubeObject['metadata'] } = KubeObject>(send: Send, object: string): Promise<T | undefined> => {
  const answer = await send({ path: object });
  if (answer.status === 200) return answer.json<T>();
  if (answer.status === 404) return undefined;
  throw new Error(`GET ${object}: ${messageOf(answer)}`);
};
