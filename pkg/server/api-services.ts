import type { KubeObject } from '../../api/meta/v1/types.ts';
import type { KubeClient } from '../kube/client.ts';
import { ifFound } from '../kube/status-error.ts';

/** The label by which a CRD's registration owns an APIService, and reverts any change of it within a second. */
const automanagedLabel = 'kube-aggregator.kubernetes.io/automanaged';

interface ApiService extends KubeObject {
  spec: { service?: { namespace?: string; name?: string }; caBundle?: string };
}

export interface ApiServicesOptions {
  client: KubeClient;
  /** Names as in `v1alpha1.apps.cozystack.io`. */
  names: readonly string[];
  service: { namespace: string; name: string };
}

/** What is wrong with an APIService, in words that say what to do; undefined where nothing is. */
const apiServiceFault = (name: string, apiService: ApiService | undefined, service: ApiServicesOptions['service']): string | undefined => {
  if (!apiService) return `APIService ${name} does not exist: apply the manifests of tenant-apiserver`;
  if (apiService.metadata.labels?.[automanagedLabel] !== undefined) {
    const group = name.slice(name.indexOf('.') + 1);
    return (
      `APIService ${name} belongs to a CustomResourceDefinition of the group ${group}, which the kube-apiserver serves itself: ` +
      `export its objects, delete the CustomResourceDefinition or remove the label ${automanagedLabel} from the APIService, and apply the manifests again`
    );
  }
  const target = apiService.spec.service;
  if (target?.namespace !== service.namespace || target.name !== service.name) {
    return `APIService ${name} points at ${target ? `Service ${target.namespace}/${target.name}` : 'the kube-apiserver itself'}, not at ${service.namespace}/${service.name}; it is left alone`;
  }
  return undefined;
};

/**
 * For the leader: makes the front trust the serving certificate's authority, where the APIService is ours to keep.
 * @returns what stands in the way, one text an APIService
 */
export const keepCaBundles = async ({ client, names, service }: ApiServicesOptions, ca: string): Promise<string[]> => {
  const caBundle = Buffer.from(ca).toString('base64');
  const faults: string[] = [];
  for (const name of names) {
    const path = `/apis/apiregistration.k8s.io/v1/apiservices/${name}`;
    const apiService = await ifFound(client.json<ApiService>({ path }));
    const fault = apiServiceFault(name, apiService, service);
    if (fault) faults.push(fault);
    else if (apiService?.spec.caBundle !== caBundle) {
      // At the version that was judged: it may be handed over to another Service at this moment.
      const body = { metadata: { resourceVersion: apiService?.metadata.resourceVersion }, spec: { caBundle, insecureSkipTLSVerify: null } };
      await client.json({ method: 'PATCH', path, contentType: 'application/merge-patch+json', body });
    }
  }
  return faults;
};
