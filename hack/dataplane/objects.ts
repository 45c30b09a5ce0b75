import { stringify } from 'yaml';
import type { KubeObject } from '../../api/meta/v1/types.ts';
import { listenerSetsAnnotation } from '../../pkg/gateway/abilities.ts';

/** Where Envoy Gateway keeps its own. */
export const namespace = 'envoy-gateway-system';
/** The GatewayClass that it serves. */
export const gatewayClass = 'envoy';
const controllerName = 'gateway.envoyproxy.io/gatewayclass-controller';

/** Folders of Envoy Gateway's host mode, below one. */
export const homesBelow = (directory: string) => ({ configHome: `${directory}/config`, dataHome: `${directory}/data`, stateHome: `${directory}/state`, runtimeDir: `${directory}/run` });

/** The configuration file: resources from Kubernetes, and Envoys as processes of this machine. */
export const configuration = (directory: string): string => stringify({
  apiVersion: 'gateway.envoyproxy.io/v1alpha1',
  kind: 'EnvoyGateway',
  gateway: { controllerName },
  provider: {
    type: 'Custom',
    custom: { resource: { type: 'Kubernetes', kubernetes: {} }, infrastructure: { type: 'Host', host: homesBelow(directory) } },
  },
  extensionApis: { enableBackend: true }, // what listens on loopback can be no endpoint of a Service
});

/** Files that `envoy-gateway certgen` writes. */
export interface Certificates {
  ca: string;
  cert: string;
  key: string;
  hmac: string;
}

/**
 * What gives a Gateway its address and has it called programmed. Envoy Gateway looks for the Service and the Deployment that it makes
 * in a cluster, also in its host mode, where it makes none: these stand for the Envoy of this machine.
 */
export const standIns = (gateway: { namespace: string; name: string }): KubeObject[] => {
  const labels = { 'gateway.envoyproxy.io/owning-gateway-namespace': gateway.namespace, 'gateway.envoyproxy.io/owning-gateway-name': gateway.name };
  const metadata = { name: `envoy-${gateway.namespace}-${gateway.name}`, namespace, labels };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'envoy', image: 'none' }] } };
  return [
    { apiVersion: 'v1', kind: 'Service', metadata, spec: { selector: labels, ports: [{ port: 443 }] } },
    { apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec: { selector: { matchLabels: labels }, template } },
  ] as KubeObject[];
};

/** What Envoy Gateway finds in the cluster. */
export const objects = (envoyVersion: string, { ca, cert, key, hmac }: Certificates): KubeObject[] => {
  const secret = (name: string, type: string, data: Record<string, string>): KubeObject =>
    ({ apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace }, type, data: Object.fromEntries(Object.entries(data).map(([file, text]) => [file, Buffer.from(text, 'latin1').toString('base64')])) }) as KubeObject;
  return [
    secret('envoy', 'kubernetes.io/tls', { 'ca.crt': ca, 'tls.crt': cert, 'tls.key': key }),
    secret('envoy-oidc-hmac', 'Opaque', { 'hmac-secret': hmac }),
    {
      apiVersion: 'gateway.envoyproxy.io/v1alpha1',
      kind: 'EnvoyProxy',
      metadata: { name: 'host', namespace },
      spec: { provider: { type: 'Host', host: { envoyVersion } } }, // the version names the folder in which the executable is looked for
    },
    {
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'GatewayClass',
      metadata: { name: gatewayClass, annotations: { [listenerSetsAnnotation]: 'true' } }, // it serves them, and does not say so
      spec: { controllerName, parametersRef: { group: 'gateway.envoyproxy.io', kind: 'EnvoyProxy', name: 'host', namespace } },
    },
  ] as KubeObject[];
};
