import { after, before, describe, it } from 'mocha';
import assert from 'node:assert/strict';
import { apiVersionOf } from '../../api/resource.ts';
import { clientAt, clientsOf, create, patch, type Clients } from '../integration/client.ts';
import type { KubeClient, KubeResponse } from '../../pkg/kube/client.ts';
import type { KubeObject, Status } from '../../api/meta/v1/types.ts';
import { tenantStrategy } from '../../pkg/registry/tenant/strategy.ts';
import { resourcePath } from '../../pkg/storage/names.ts';
import { eventually } from '../poll.ts';
import { kinds, sides, twinOf, withOurGroups, type Side } from './sides.ts';
import { contractWorld } from './world.ts';

const hard = 13;
const requests = 40;

// Where many create at once, at two replicas, the quota must hold exactly, and no request may fail for the others' sake.
describe('a quota under many creates at once', () => {
  const namespace = 'contract-quota-race';
  let clients: Clients;
  let replica: KubeClient;

  before(async function () {
    this.timeout(20 * 60_000); // the components may have to be built
    const { cluster, replicaPort } = await contractWorld();
    clients = await clientsOf(cluster);
    replica = clientAt(replicaPort, cluster.controlPlane.admin);
    await create(clients.front, '/api/v1/namespaces', { metadata: { name: namespace } });
  });
  after(() => {
    replica?.close();
    clients?.close();
  });

  const definitionOf = (side: Side): typeof kinds.tenant => (side === 'ours' ? kinds.tenant : twinOf(kinds.tenant) as typeof kinds.tenant);
  const path = (side: Side, name?: string): string => resourcePath(definitionOf(side), namespace, name);
  const quotaPath = '/api/v1/namespaces/contract-quota-race/resourcequotas';
  const used = async (side: Side): Promise<string | undefined> => {
    const { status } = await clients.front.json<KubeObject>({ path: `${quotaPath}/${side}` });
    return (status as { used?: Record<string, string> } | undefined)?.used?.[`count/${definitionOf(side).plural}.${definitionOf(side).group}`];
  };
  const usedBecomes = (side: Side, count: number): Promise<true> => eventually(`${count} are in use`, async () => ((await used(side)) === String(count) ? true : undefined), { withinMs: 90_000 });
  const createAll = (side: Side, prefix: string, at: readonly KubeClient[]): Promise<KubeResponse[]> =>
    Promise.all(Array.from({ length: requests }, (_, index) => {
      const name = `${prefix}${index}`;
      return at[index % at.length]!.request({ method: 'POST', path: path(side), body: { apiVersion: apiVersionOf(definitionOf(side)), kind: 'Tenant', metadata: { name } } });
    }));
  /** No loop runs here, and only the server may take the finalizer off. */
  const endAsLoop = (name: string): Promise<unknown> =>
    clients.front.json({
      method: 'PATCH', path: resourcePath(tenantStrategy.record, namespace, name), contentType: 'application/merge-patch+json', body: { metadata: { finalizers: null } },
      headers: { 'impersonate-user': 'system:serviceaccount:cozy-system:tenant-apiserver' },
    });
  const refusals = (answers: readonly KubeResponse[]): Status[] => answers.filter(({ status }) => status !== 201).map(({ body }) => JSON.parse(withOurGroups(body.toString())) as Status);
  /** A refusal apart from whom it is for. */
  const plain = ({ message, details, ...rest }: Status): object => ({ ...rest, message: message?.replace(/"[a-z]\d+"/, '"<name>"'), details: { ...details, name: '<name>' } });

  for (const side of sides) {
    it(`is made for ${side}`, async function () {
      this.timeout(120_000);
      const { plural, group } = definitionOf(side);
      await create(clients.front, quotaPath, { metadata: { name: side }, spec: { hard: { [`count/${plural}.${group}`]: String(hard) } } });
      // The quota controller looks again at a quota whose spec changes; it may have to learn of the kind first.
      let times = 0;
      await eventually('it is counted', async () => {
        if ((await used(side)) === '0') return true;
        await patch(clients.front, `${quotaPath}/${side}`, { spec: { hard: { 'count/nothings.example.org': String((times += 1)) } } });
        return false;
      }, { withinMs: 110_000, everyMs: 1000 });
    });
  }

  it(`lets ${hard} of ${requests} in over two replicas, and refuses the rest as the twin does`, async function () {
    this.timeout(120_000);
    const ours = await createAll('ours', 'a', [clients.front, replica]);
    const twin = await createAll('twin', 'a', [clients.front]);
    const [ourRefusals, twinRefusals] = [refusals(ours), refusals(twin)];
    assert.deepEqual([...new Set(ourRefusals.map(({ code, reason }) => `${code} ${reason}`))], ['403 Forbidden']);
    assert.equal(ourRefusals.length, requests - hard);
    assert.equal(await used('ours'), String(hard));
    const full = twinRefusals.map(plain).find((refusal) => JSON.stringify(refusal).includes(`=${hard}, limited`))!;
    for (const refusal of ourRefusals) assert.deepEqual(JSON.parse(JSON.stringify(plain(refusal)).replaceAll('quota: ours', 'quota: twin')), full);
    console.log(`      refused: ours ${ourRefusals.length}, twin ${twinRefusals.length}`);
  });

  it('gives back what is deleted', async function () {
    this.timeout(240_000);
    const { items } = await clients.front.json<{ items: KubeObject[] }>({ path: path('ours') });
    assert.equal(items.length, hard);
    for (const { metadata: { name } } of items.slice(0, 5)) {
      await clients.front.json({ method: 'DELETE', path: path('ours', name) });
      await endAsLoop(name!);
    }
    await usedBecomes('ours', hard - 5);
    const again = await createAll('ours', 'b', [clients.front, replica]);
    assert.equal(again.filter(({ status }) => status === 201).length, 5);
    assert.equal(await used('ours'), String(hard));
  });

  it('takes no place for what is there already', async function () {
    this.timeout(120_000);
    const { items } = await clients.front.json<{ items: KubeObject[] }>({ path: path('ours') });
    const kept = items.filter(({ metadata: { name = '' } }) => name.startsWith('a'));
    await clients.front.json({ method: 'PATCH', path: `${quotaPath}/ours`, contentType: 'application/merge-patch+json', body: { spec: { hard: { 'count/tenants.apps.cozystack.io': String(hard + requests) } } } });
    await eventually('there is room', async () => JSON.stringify(await clients.front.json({ path: `${quotaPath}/ours` })).split(`"${hard + requests}"`).length > 2);
    const answers = await Promise.all(Array.from({ length: requests }, (_, index) => {
      const name = kept[index % kept.length]!.metadata.name;
      return clients.front.request({ method: 'POST', path: path('ours'), body: { apiVersion: apiVersionOf(kinds.tenant), kind: 'Tenant', metadata: { name } } });
    }));
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [409]);
    assert.equal(await used('ours'), String(hard));
  });
});
