import { after, before, describe, it } from 'mocha';
import assert from 'node:assert/strict';
import { tenantGateways } from '../../api/gateway/v1alpha1/tenantgateway.ts';
import type { KubeList } from '../../api/meta/v1/types.ts';
import { resourcePath } from '../../pkg/storage/names.ts';
import { clientAt, clientsOf, create, gatewayPath, gatewayRecordPath, patch, Watch, type Clients } from '../integration/client.ts';
import { quietCluster, type Cluster } from '../integration/cluster.ts';
import { Follower } from '../integration/outage-client.ts';
import { eventually } from '../poll.ts';
import type { Answer } from './answer.ts';
import { create as createStep, createNamed, get, several } from './cases/build.ts';
import type { Step } from './case.ts';
import { faultsBetween, faultText } from './compare.ts';
import { normalised } from './normalise.ts';
import { runSteps } from './run-case.ts';
import { sides, twinOf, type Side } from './sides.ts';
import { Wire } from './wire.ts';
import { installTwins } from './world.ts';

const twinGatewayPath = (namespace?: string, name?: string): string => resourcePath(twinOf(tenantGateways), namespace, name);
const gateway = (of: 'ours' | 'twin' | 'record', name: string): object => ({
  apiVersion: of === 'record' ? 'records.cozystack.io/v1alpha1' : `${(of === 'ours' ? tenantGateways : twinOf(tenantGateways)).group}/v1alpha1`,
  kind: of === 'record' ? 'TenantGatewayRecord' : 'TenantGateway',
  metadata: { name },
  spec: { apex: 'example.org' },
});

// A server that has restarted, and a replica that never had the state, know no more than the kube-apiserver does: they must say the same.
describe('what has expired, and what a restart forgets', () => {
  const namespace = 'expiry';
  let cluster: Cluster;
  let clients: Clients;
  let wire: Wire;
  let replicaPort: number;
  const answers: Record<Side, Answer[]> = { ours: [], twin: [] };

  before(async function () {
    this.timeout(20 * 60_000); // the components may have to be built
    cluster = await quietCluster();
    await installTwins(cluster);
    clients = await clientsOf(cluster);
    wire = new Wire(cluster.controlPlane);
    await create(clients.front, '/api/v1/namespaces', { metadata: { name: namespace } });
    await eventually('the twin is served', () => clients.front.json({ path: twinGatewayPath(namespace) }).then(() => true));
  });
  after(async () => {
    wire?.close();
    clients?.close();
    await cluster?.server.stop('SIGKILL');
    await cluster?.controlPlane.stop();
  });

  /** Carries out steps on both sides, and fails where the answers differ. @returns ours, as they came */
  const same = async (...steps: Step[]): Promise<Answer[]> => {
    const from = answers.ours.length;
    const [ours, twin] = await Promise.all(sides.map(async (side) => {
      await runSteps(steps, { side, wire, place: { kind: 'gateway', namespace, name: 'o' }, replicaPort }, answers[side]);
      return normalised(answers[side], false).slice(from);
    }));
    assert.deepEqual(faultsBetween(ours, twin).map(faultText), []);
    return answers.ours.slice(from);
  };
  const codes = (of: readonly Answer[]): number[] => of.map(({ status }) => status);
  const restartKubeApiserver = async (): Promise<void> => {
    // Versions of other kinds pass by: a new watch cache begins after all that was told.
    await create(clients.front, `/api/v1/namespaces/${namespace}/configmaps`, { metadata: { generateName: 'passes-' } });
    await cluster.controlPlane.stopComponent('kube-apiserver');
    await cluster.controlPlane.startComponent('kube-apiserver');
    await served();
  };
  const served = (): Promise<true> =>
    eventually('both kinds are served', async () => {
      await Promise.all([clients.front.json({ path: gatewayPath(namespace) }), clients.front.json({ path: twinGatewayPath(namespace) }), clients.server.json({ path: gatewayPath(namespace) })]);
      return true;
    }, { withinMs: 60_000 });

  describe('once etcd is compacted', () => {
    before(async function () {
      this.timeout(180_000);
      // 0 to 5 create, 6 to 8 list, the rest changes
      await same(...several(6), get('<all>?limit=2'), get('<all>?limit=1&labelSelector=odd%3Dyes'), get('<every>?limit=2'));
      await same(createNamed('bb'), createNamed('z'), { method: 'DELETE', path: '<all>/<name>d' });
      await cluster.controlPlane.compact();
    });

    it('a server that still holds the state goes on with it', async () => {
      const { body } = answers.ours[6]!;
      const { metadata } = body as KubeList;
      const rest = await clients.front.json<KubeList>({ path: gatewayPath(namespace), query: { continue: metadata.continue } });
      assert.deepEqual(rest.items.map(({ metadata: { name } }) => name), ['oc', 'od', 'oe', 'of']);
      assert.equal(rest.metadata.resourceVersion, metadata.resourceVersion);
    });

    describe('to a replica that came later, and a kube-apiserver that forgot', () => {
      before(async function () {
        this.timeout(180_000);
        await restartKubeApiserver();
        ({ port: replicaPort } = await cluster.startReplica(['--run-loop=false']));
      });

      for (const { what, path, first, query } of [
        { what: 'of a namespace', path: '<all>', first: 6, query: 'limit=2' },
        { what: 'that a label selects', path: '<all>', first: 7, query: 'limit=1&labelSelector=odd%3Dyes' },
        { what: 'of all namespaces', path: '<every>', first: 8, query: 'limit=2' },
        { what: 'of a namespace without limit', path: '<all>', first: 6, query: 'pretty=false' },
      ]) {
        it(`a page ${what} is refused with a token that goes on at the newest version, to the end`, async () => {
          const at = answers.ours.length;
          const refused = await same({ path: `${path}?${query}&continue=<${first}.metadata.continue>`, replica: true });
          assert.deepEqual(codes(refused), [410]);
          const { reason, metadata } = refused[0]!.body as { reason: string; metadata: { continue: string } };
          assert.equal(reason, 'Expired');
          assert.ok(metadata.continue);
          const pages: string[][] = [];
          for (let more = true, from = at; more; from += 1) {
            const [page] = await same({ path: `${path}?${query}&continue=<${from}.metadata.continue>`, replica: true });
            const { items, metadata: next } = page!.body as KubeList;
            pages.push(items.map(({ metadata: { name = '' } }) => name));
            more = next.continue !== undefined && next.continue !== '';
          }
          console.log(`      ${what}: ${JSON.stringify(pages)}`);
          assert.ok(pages.flat().every((name) => name !== 'od'), 'what was deleted since is not there');
          assert.ok(pages.flat().length > 0);
        });
      }

      it('an exact version is refused', async () => {
        assert.deepEqual(codes(await same({ path: '<all>?resourceVersionMatch=Exact&resourceVersion=<1.metadata.resourceVersion>', replica: true })), [410]);
        assert.deepEqual(codes(await same({ path: '<all>?limit=2&resourceVersion=<1.metadata.resourceVersion>', replica: true })), [410]);
      });

      it('a version that is not newer than this is as good as any', async () => {
        assert.deepEqual(codes(await same({ path: '<all>?resourceVersion=<1.metadata.resourceVersion>', replica: true }, get('<all>'))), [200, 200]);
      });

      it('a watch from it is told that it is gone', async () => {
        const [{ body }] = (await same({ path: '<all>?watch=1&timeoutSeconds=5&resourceVersion=<1.metadata.resourceVersion>', replica: true, meanwhile: [] } as Step)) as [Answer];
        const [event] = [body].flat() as { type: string; object: { code: number } }[]; // one line reads as one object
        assert.deepEqual([event!.type, event!.object.code], ['ERROR', 410]);
      });

      it('the first server says so as well once it has restarted', async function () {
        this.timeout(120_000);
        await cluster.server.stop('SIGKILL');
        await cluster.server.start();
        await served();
        const refused = await same(get('<all>?limit=2&continue=<6.metadata.continue>'), { path: '<all>?watch=1&timeoutSeconds=5&resourceVersion=<1.metadata.resourceVersion>', meanwhile: [] });
        assert.deepEqual(codes(refused), [410, 200]);
        assert.deepEqual(codes(await same(createStep(), get('<all>'))), [201, 200]);
      });
    });
  });

  describe('a watch', () => {
    const line = ({ type, object }: Watch['events'][number]): string => `${type} ${object.metadata.name}@${object.metadata.resourceVersion}`;
    const from = async (path: string): Promise<string> => (await clients.front.json<KubeList>({ path })).metadata.resourceVersion!;
    /** All that a watch says that is resumed at a version. */
    const resumed = async (path: string, resourceVersion: string, client = clients.front): Promise<Watch['events']> => {
      const watch = await Watch.open(client, path, { resourceVersion, timeoutSeconds: 2 });
      await watch.over;
      return watch.events;
    };
    const gone = (events: Watch['events']): object[] => events.map(({ type, object }) => ({ type, object: { ...object, message: object.message?.replaceAll(/\d+/g, '<version>') } }));

    it('that loses its server goes on at another replica without a gap or a repetition, and is told 410 by the server that comes back', async function () {
      this.timeout(180_000);
      const { port, replica } = await cluster.startReplica(['--run-loop=false']);
      const beside = clientAt(port, cluster.controlPlane.admin);
      const path = gatewayPath(namespace);
      const began = await from(path);
      const watches = [await Watch.open(clients.front, path, { resourceVersion: began }), await Watch.open(clients.server, path, { resourceVersion: began })];
      const { metadata: { resourceVersion: seen } } = await create(clients.front, path, gateway('ours', 'seen'));
      await eventually('the first event is told', () => watches.every(({ events }) => events.length === 1));
      await cluster.server.stop('SIGKILL');
      const { metadata: { resourceVersion: missed } } = await create(clients.records, gatewayRecordPath(namespace), gateway('record', 'missed'));
      await Promise.all(watches.map(({ over }) => over));
      for (const { events } of watches) assert.deepEqual(events.map(line), [`ADDED seen@${seen}`]);

      assert.deepEqual((await resumed(path, seen!, beside)).map(line), [`ADDED missed@${missed}`]);
      assert.deepEqual((await resumed(path, began, beside)).map(line), [`ADDED seen@${seen}`, `ADDED missed@${missed}`]);

      await cluster.server.start();
      await served();
      const ours = [await resumed(path, seen!), await resumed(path, seen!, clients.server)];
      const twinSeen = (await create(clients.front, twinGatewayPath(namespace), gateway('twin', 'seen'))).metadata.resourceVersion!;
      await restartKubeApiserver(); // the twin's server
      const twin = gone(await resumed(twinGatewayPath(namespace), twinSeen));
      assert.deepEqual(twin.map((event: any) => [event.type, event.object.code]), [['ERROR', 410]]);
      for (const events of ours) assert.deepEqual(gone(events), twin);
      beside.close();
      await replica.stop();
    });

    it('is ended by a restart of the kube-apiserver, with nothing made up, and resumed as the twin is', async function () {
      this.timeout(180_000);
      const places = [
        { path: gatewayPath(namespace), client: clients.front, of: 'ours' as const },
        { path: gatewayPath(namespace), client: clients.server, of: 'ours' as const },
        { path: twinGatewayPath(namespace), client: clients.front, of: 'twin' as const },
      ];
      const open = await Promise.all(places.map(async ({ path, client }) => Watch.open(client, path, { resourceVersion: await from(path) })));
      const made = { ours: await create(clients.front, places[0]!.path, gateway('ours', 'before')), twin: await create(clients.front, places[2]!.path, gateway('twin', 'before')) };
      await eventually('all are told', () => open.every(({ events }) => events.length === 1));
      await restartKubeApiserver();
      await eventually('all have ended', () => open.every(({ isOver }) => isOver), { withinMs: 60_000 });
      for (const [index, { events }] of open.entries()) assert.deepEqual(events.map(line), [`ADDED before@${made[places[index]!.of].metadata.resourceVersion}`]);
      const [front, server, twin] = await Promise.all(places.map(async ({ path, client, of }) => gone(await resumed(path, made[of].metadata.resourceVersion!, client))));
      assert.deepEqual(front, twin);
      assert.deepEqual(server, twin);
    });

    it('with lists, as informers do it, converges through restarts of both servers, and sees nothing twice', async function () {
      this.timeout(240_000);
      const followers = [
        { of: 'ours' as const, follower: new Follower(clients.front, gatewayPath(namespace)) },
        { of: 'ours' as const, follower: new Follower(clients.server, gatewayPath(namespace)) },
        { of: 'twin' as const, follower: new Follower(clients.front, twinGatewayPath(namespace)) },
      ];
      await eventually('all have listed', () => followers.every(({ follower }) => follower.lists > 0));
      const pathOf = { ours: gatewayPath, twin: twinGatewayPath };
      let turn = 0;
      /** What an object goes through, beginning a little further on each time. */
      const change = async (): Promise<void> => {
        turn += 1;
        for (const of of sides) {
          await create(clients.front, pathOf[of](namespace), gateway(of, `t${turn}`));
          await patch(clients.front, pathOf[of](namespace, `t${turn}`), { metadata: { labels: { turn: String(turn) } } });
          if (turn > 2) await clients.front.json({ method: 'DELETE', path: pathOf[of](namespace, `t${turn - 2}`) });
        }
      };
      const insist = (): Promise<true> => eventually('a change is taken', () => change().then(() => true as const), { withinMs: 60_000 });
      for (const restart of [
        () => cluster.server.stop('SIGKILL').then(() => cluster.server.start()),
        () => restartKubeApiserver(),
        () => cluster.server.stop('SIGTERM').then(() => cluster.server.start()),
      ]) {
        await insist();
        await restart();
        await insist();
      }
      for (const { of, follower } of followers) {
        await eventually(`a follower of ${of} holds what there is`, async () => {
          const { items } = await clients.front.json<KubeList>({ path: pathOf[of](namespace) });
          assert.deepEqual(Object.fromEntries(follower.held), Object.fromEntries(items.map(({ metadata }) => [metadata.name, metadata.resourceVersion])));
          return true;
        }, { withinMs: 60_000 });
        await follower.stop();
        assert.deepEqual(follower.faults, []);
      }
      console.log(`      ${followers.map(({ of, follower }) => `${of}: ${follower.lists} lists, ${follower.resumptions} interruptions`).join('; ')}`);
    });
  });
});

