import { before, describe, it } from 'mocha';
import assert from 'node:assert/strict';
import { goTest, goTestNames } from '../clients/go-clients.ts';
import { makeNamespace } from './cluster.ts';
import { sharedTwin, twinDomain, type Twin } from './twin.ts';

/** What `clients-restart.test.ts` runs. */
const elsewhere = ['TestInformerSurvivesRestart'];

const tests: { name: string; promise: string; watchList?: boolean }[] = [
  { name: 'TestInformerConverges', promise: "client-go's shared informer, list and watch: nothing is missed or told twice, resyncs, converges", watchList: false },
  { name: 'TestInformerConverges', promise: "client-go's shared informer, WatchList: nothing is missed or told twice, resyncs, converges" },
  { name: 'TestInformerSelectors', promise: 'informers with selectors see objects come and go as those of a CustomResourceDefinition, list and watch', watchList: false },
  { name: 'TestInformerSelectors', promise: 'informers with selectors see objects come and go as those of a CustomResourceDefinition, WatchList' },
  { name: 'TestDynamicClient', promise: "client-go's dynamic client gets the answers of a CustomResourceDefinition" },
  { name: 'TestServerSideApply', promise: "client-go's apply: owners, conflicts and force as for a CustomResourceDefinition" },
  { name: 'TestNoLostUpdate', promise: 'retries upon conflict lose no update among parallel writers' },
  { name: 'TestControllerRuntime', promise: 'a controller-runtime manager reconciles from its cache, owns, and hands over when its leader steps down' },
  { name: 'TestMetadataOnly', promise: 'metadata-only informers and caches, list and watch in protobuf', watchList: false },
  { name: 'TestMetadataOnly', promise: 'metadata-only informers and caches, WatchList in protobuf' },
  { name: 'TestHelmReleases', promise: 'Helm installs, upgrades, rolls back and uninstalls as with a CustomResourceDefinition, applying and patching' },
  { name: 'TestHelmThreeWayMerge', promise: "Helm's three-way merge sets right what was changed by hand, and adopts what exists" },
];

describe('clients written in Go', () => {
  let twin: Twin;
  before(async function () {
    this.timeout(300_000);
    twin = await sharedTwin();
  });

  it('are all run', async () => {
    assert.deepEqual((await goTestNames()).sort(), [...new Set([...tests.map(({ name }) => name), ...elsewhere])].sort());
  });

  for (const { name, promise, watchList } of tests) {
    it(promise, async function () {
      this.timeout(260_000);
      const namespace = await makeNamespace(twin.cluster, 'clients');
      const logged = await goTest(name, { kubeconfig: twin.cluster.controlPlane.kubeconfigPath, namespace, twinDomain, watchList });
      for (const line of logged) console.log(`      ${line}`);
    });
  }
});
