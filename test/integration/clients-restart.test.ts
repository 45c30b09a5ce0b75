import { before, after, describe, it } from 'mocha';
import assert from 'node:assert/strict';
import { goTest } from '../clients/go-clients.ts';
import { makeNamespace, ownCluster, type Cluster } from './cluster.ts';

describe('clients written in Go, when the server starts anew', () => {
  let cluster: Cluster;
  before(async function () {
    this.timeout(20 * 60_000); // the components may have to be built
    cluster = await ownCluster();
  });
  after(async () => {
    await cluster?.server.stop();
    await cluster?.controlPlane.stop();
  });

  for (const { name, watchList, signal } of [
    { name: "client-go's informers, list and watch, after a stop in order", watchList: false, signal: 'SIGTERM' },
    { name: "client-go's informers, WatchList, after a crash", watchList: true, signal: 'SIGKILL' },
  ] as const) {
    it(`${name}: they converge, and nothing acknowledged is missed`, async function () {
      this.timeout(260_000);
      const namespace = await makeNamespace(cluster, 'restart');
      let restarts = 0;
      const logged = await goTest('TestInformerSurvivesRestart', {
        kubeconfig: cluster.controlPlane.kubeconfigPath,
        namespace,
        watchList,
        answer: async (line) => {
          if (line !== 'writing') return undefined;
          await cluster.server.stop(signal);
          restarts += 1;
          await cluster.server.start();
          return 'back\n';
        },
      });
      assert.equal(restarts, 1);
      for (const line of logged) console.log(`      ${line}`);
    });
  }
});
