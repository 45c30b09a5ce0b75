import type { Answer, Call, Credentials } from '../../../hack/controlplane/request.ts';
import type { Cluster } from '../../integration/cluster.ts';
import { eventually } from '../../poll.ts';

export const resource = 'tenants.apps.cozystack.io';

/** A user with a client certificate of its own. */
export class TenantUser {
  readonly name: string;
  readonly #cluster: Cluster;
  readonly #credentials: Credentials;

  static async named(cluster: Cluster, name: string, ...groups: string[]): Promise<TenantUser> {
    return new TenantUser(cluster, name, await cluster.controlPlane.clientAuthority.issue({ commonName: name, organizations: groups, usages: ['client'] }));
  }

  private constructor(cluster: Cluster, name: string, credentials: Credentials) {
    this.name = name;
    this.#cluster = cluster;
    this.#credentials = credentials;
  }

  request(call: Call): Promise<Answer> {
    return this.#cluster.controlPlane.request(call, this.#credentials);
  }

  kubeconfig(): Promise<string> {
    return this.#cluster.controlPlane.kubeconfigFor(this.#credentials, this.name);
  }

  /** Gives permissions on tenants of a namespace; resolves once they hold. */
  async mayDo(verbs: string, namespace: string): Promise<void> {
    const { kubectl } = this.#cluster;
    const name = `${this.name}-${verbs.replaceAll(/\W+/g, '-')}`;
    await kubectl.run(['create', 'role', name, `--verb=${verbs}`, `--resource=${resource}`, '-n', namespace]);
    await kubectl.run(['create', 'rolebinding', name, `--role=${name}`, `--user=${this.name}`, '-n', namespace]);
    const verb = verbs.split(',')[0]!;
    await eventually('the role holds', async () => (await kubectl.try(['auth', 'can-i', verb, resource, '-n', namespace, '--as', this.name])).code === 0);
  }
}
