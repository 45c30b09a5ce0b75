import { after, before, describe, it } from 'mocha';
import assert from 'node:assert/strict';
import { CustomObjectsApi, KubeConfig, type KubernetesListObject, type KubernetesObject, makeInformer } from '@kubernetes/client-node';
import { tenants } from '../../api/apps/v1alpha1/tenant.ts';
import { tenantGateways } from '../../api/gateway/v1alpha1/tenantgateway.ts';
import { Relay } from '../clients/relay.ts';
import { eventually } from '../poll.ts';
import { gatewayPath, tenantPath } from './client.ts';
import { makeNamespace, sharedCluster, type Cluster } from './cluster.ts';

const kinds = [
  { definition: tenants, pathOf: tenantPath, specOf: (): object => ({}) },
  { definition: tenantGateways, pathOf: gatewayPath, specOf: (name: string): object => ({ apex: `${name}.example.org` }) },
];

for (const { definition, pathOf, specOf } of kinds) {
  const { group, version, plural, kind } = definition;

  describe(`@kubernetes/client-node: an informer on ${plural}`, () => {
    let cluster: Cluster;
    let namespace: string;
    let relay: Relay;
    let api: CustomObjectsApi;
    const stops: (() => Promise<void>)[] = [];

    before(async function () {
      this.timeout(300_000);
      cluster = await sharedCluster();
      namespace = await makeNamespace(cluster, 'node');
      relay = await Relay.to(Number(new URL(cluster.controlPlane.url).port));
      api = configOf(cluster.controlPlane.kubeconfigPath).makeApiClient(CustomObjectsApi);
    });
    after(async () => {
      for (const stop of stops) await stop();
      await relay?.close();
    });

    /** Of a user, straight at the kube-apiserver, or at another port that leads there. */
    const configOf = (file: string, port?: number): KubeConfig => {
      const config = new KubeConfig();
      config.loadFromFile(file);
      if (port === undefined) return config;
      const at = `https://127.0.0.1:${port}`;
      const { users, contexts, currentContext } = config;
      config.loadFromOptions({ users, contexts, currentContext, clusters: config.clusters.map((each) => ({ ...each, server: at })) });
      return config;
    };

    /** An informer that is started anew after every error, as its documentation has it. */
    const follow = (config: KubeConfig, labelSelector?: string) => {
      const reader = config.makeApiClient(CustomObjectsApi);
      const list = async (): Promise<KubernetesListObject<KubernetesObject>> =>
        (await reader.listNamespacedCustomObject({ group, version, namespace, plural, ...(labelSelector !== undefined && { labelSelector }) })) as KubernetesListObject<KubernetesObject>;
      const informer = makeInformer(config, pathOf(namespace), list, labelSelector);
      const events: string[] = [];
      const errors: { code?: number }[] = [];
      let again: NodeJS.Timeout | undefined;
      for (const verb of ['add', 'update', 'delete'] as const) informer.on(verb, ({ metadata }) => void events.push(`${verb} ${metadata!.name}`));
      informer.on('error', (error) => {
        errors.push(error as { code?: number });
        again = setTimeout(() => void informer.start(), 100);
      });
      const stop = (): Promise<void> => {
        clearTimeout(again);
        return informer.stop();
      };
      stops.push(stop);
      return { informer, events, errors, stop };
    };

    const create = (name: string, labels: Record<string, string> = {}): Promise<unknown> =>
      api.createNamespacedCustomObject({ group, version, namespace, plural, body: { apiVersion: `${group}/${version}`, kind, metadata: { name, labels: { made: 'here', ...labels } }, spec: specOf(name) } });
    const setLabel = (name: string, label: string, value: string): Promise<unknown> =>
      api.patchNamespacedCustomObject({ group, version, namespace, plural, name, body: [{ op: 'add', path: `/metadata/labels/${label}`, value }] });
    const remove = (name: string): Promise<unknown> => api.deleteNamespacedCustomObject({ group, version, namespace, plural, name });

    const versionsOf = (objects: readonly KubernetesObject[]): object =>
      Object.fromEntries(objects.map(({ metadata }) => [metadata!.name!, metadata!.resourceVersion]));
    const converges = (informer: ReturnType<typeof follow>['informer'], labelSelector = ''): Promise<unknown> =>
      eventually('the informer holds what the server has', async () => {
        const { items } = (await api.listNamespacedCustomObject({ group, version, namespace, plural, labelSelector })) as { items: KubernetesObject[] };
        assert.deepEqual(versionsOf(informer.list(namespace)), versionsOf(items));
        return true;
      });

    it('is told of objects that come, change and go', async () => {
      await create('before');
      const { informer, events, errors } = follow(configOf(cluster.controlPlane.kubeconfigPath));
      await informer.start();
      await create('later');
      await setLabel('later', 'step', 'two');
      await remove('before');
      await eventually('it is told of the end', () => events.includes('delete before'));
      await converges(informer);
      assert.equal(informer.get('later', namespace)?.metadata?.labels?.['step'], 'two');
      assert.ok(events.includes('add before') && events.includes('add later') && events.includes('update later'), events.join());
      assert.deepEqual(errors, []);
    });

    it('with a label selector is told of an object that stops matching as of one that goes', async () => {
      const { informer, events, errors } = follow(configOf(cluster.controlPlane.kubeconfigPath), 'color=red');
      await informer.start();
      await create('painted', { color: 'red' });
      await eventually('it is told of it', () => events.includes('add painted'));
      await setLabel('painted', 'color', 'blue');
      await eventually('it is told that it stopped', () => events.includes('delete painted'));
      await converges(informer, 'color=red');
      assert.deepEqual(errors, []);
    });

    it('goes on after its connections were cut, and misses nothing of what happened meanwhile', async function () {
      this.timeout(300_000);
      await create('removed');
      const { informer, events } = follow(configOf(cluster.controlPlane.kubeconfigPath, relay.port));
      await informer.start();
      await converges(informer);
      for (let round = 1; round <= 3; round += 1) {
        const before = relay.accepted;
        relay.cut();
        await create(`cut${round}`);
        if (round === 2) await remove('removed');
        await eventually('it connects again', () => relay.accepted > before, { withinMs: 60_000 });
        await converges(informer);
        assert.equal(events.filter((event) => event === `add cut${round}`).length, 1, events.join());
      }
      assert.equal(events.filter((event) => event === 'delete removed').length, 1, events.join());
    });

    it('of somebody who may not list gets the refusal as its error', async () => {
      const file = await cluster.controlPlane.kubeconfigFor(await cluster.controlPlane.clientAuthority.issue({ commonName: 'mallory', usages: ['client'] }), 'mallory');
      const { informer, errors, stop } = follow(configOf(file));
      await informer.start();
      await eventually('it is told', () => errors.length > 0);
      await stop();
      assert.equal(errors[0]!.code, 403);
      assert.deepEqual(informer.list(namespace), []);
    });
  });
}
