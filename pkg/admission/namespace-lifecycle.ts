import type { KubeObject } from '../../api/meta/v1/types.ts';
import type { KubeClient } from '../kube/client.ts';
import { Reflector } from '../kube/reflector.ts';
import { hasCode, StatusError } from '../kube/status-error.ts';
import type { AdmissionPlugin } from './chain.ts';

/** The metadata of all namespaces, as far as they were seen. */
export class NamespaceLifecycle implements AdmissionPlugin {
  readonly name = 'NamespaceLifecycle';
  readonly #client: KubeClient;
  readonly #reflector: Reflector;
  #terminating = new Map<string, boolean>();

  constructor(client: KubeClient, onError: (error: unknown) => void) {
    this.#client = client;
    this.#reflector = new Reflector(
      { client, path: '/api/v1/namespaces', metadataOnly: true, onError },
      {
        replace: (items) => (this.#terminating = new Map(items.map((item) => [item.metadata.name!, isTerminating(item)]))),
        event: (type, item) => {
          if (type === 'DELETED') this.#terminating.delete(item.metadata.name!);
          else this.#terminating.set(item.metadata.name!, isTerminating(item));
        },
      },
    );
  }

  start(): void {
    this.#reflector.start();
  }

  stop(): Promise<void> {
    return this.#reflector.stop();
  }

  handles({ operation, namespace }: { operation: string; namespace: string }): boolean {
    return operation === 'CREATE' && namespace !== '';
  }

  /** Refuses to create in a namespace that is missing or being deleted. */
  async admit({ kind, resource, namespace, name }: Parameters<NonNullable<AdmissionPlugin['admit']>>[0]): Promise<void> {
    // a namespace that was not seen yet may have been made a moment ago: the kube-apiserver knows
    const terminating = this.#terminating.get(namespace) ?? (await this.#ask(namespace));
    if (!terminating) return;
    const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
    const error = StatusError.forbidden({ group: kind.group, resource }, name, why);
    error.status.details!.causes = [{ reason: 'NamespaceTerminating', message: `namespace ${namespace} is being terminated`, field: 'metadata.namespace' }];
    throw error;
  }

  async #ask(namespace: string): Promise<boolean> {
    try {
      return isTerminating(await this.#client.json<KubeObject>({ path: `/api/v1/namespaces/${encodeURIComponent(namespace)}` }));
    } catch (error) {
      throw hasCode(error, 404) ? StatusError.notFound({ group: '', resource: 'namespaces' }, namespace) : error;
    }
  }
}

const isTerminating = (namespace: KubeObject): boolean => namespace.metadata.deletionTimestamp !== undefined;
