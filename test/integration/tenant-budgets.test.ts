import assert from 'node:assert/strict';
import type { Child } from '../../hack/controlplane/child.ts';
import type { KubeList, KubeObject, Status } from '../../api/meta/v1/types.ts';
import type { KubeClient, KubeResponse } from '../../pkg/kube/client.ts';
import { eventually } from '../poll.ts';
import { applyRoot, clientAt, clientsOf, find, tenantNamed, tenantPath, type Clients } from './client.ts';
import { sharedCluster, type Cluster } from './cluster.ts';

const ledgerPath = '/api/v1/namespaces/cozy-system/configmaps/tenant-apiserver-budgets';
const mergePatch = 'application/merge-patch+json';

// Budgets as people meet them: over HTTP, at two replicas, on records that the kube-apiserver keeps.
describe('budgets of tenants', () => {
  let cluster: Cluster;
  let clients: Clients;
  let replica: { port: number; replica: Child };
  let second: KubeClient;
  const heads: string[] = [];

  before(async function () {
    this.timeout(20 * 60_000); // the components may have to be built
    cluster = await sharedCluster();
    clients = await clientsOf(cluster);
    replica = await cluster.startReplica(['--run-loop=false', '--request-timeout=5s']);
    second = clientAt(replica.port, cluster.controlPlane.admin);
  });
  after(async function () {
    this.timeout(120_000);
    for (const path of heads.toReversed()) await clients?.front.request({ method: 'DELETE', path });
    second?.close();
    clients?.close();
    await replica?.replica.stop('SIGKILL');
  });

  const ask = (client: KubeClient, namespace: string, name: string, resourceQuotas: object, query = {}): Promise<KubeResponse> =>
    client.request({ method: 'POST', path: tenantPath(namespace), query, body: { ...tenantNamed(name), spec: { resourceQuotas } }, timeoutMs: 60_000 });
  const change = (namespace: string, name: string, resourceQuotas: object | null, client = clients.front): Promise<KubeResponse> =>
    client.request({ method: 'PATCH', path: tenantPath(namespace, name), contentType: mergePatch, body: { spec: { resourceQuotas } } });
  /** `201`, or the code with each cause. */
  const outcome = ({ status, body }: KubeResponse): string => {
    if (status < 300) return String(status);
    const { details, message } = JSON.parse(body.toString()) as Status;
    return [status, ...(details?.causes?.map(({ reason, field, message: why }) => `${reason} ${field}: ${why}`) ?? [message])].join(' ');
  };
  /** A tenant below root with a namespace of its own, for one test. */
  const head = async (name: string, resourceQuotas: object): Promise<string> => {
    assert.equal(outcome(await ask(clients.front, 'tenant-root', name, resourceQuotas)), '201');
    heads.push(tenantPath('tenant-root', name));
    await eventually(`tenant-${name} is there`, () => find(clients.front, `/api/v1/namespaces/tenant-${name}`));
    return `tenant-${name}`;
  };
  const made = async (namespace: string, name: string, resourceQuotas: object): Promise<void> => {
    assert.equal(outcome(await ask(clients.front, namespace, name, resourceQuotas)), '201');
    heads.push(tenantPath(namespace, name));
  };
  const children = async (namespace: string): Promise<KubeObject[]> => (await clients.front.json<KubeList>({ path: tenantPath(namespace) })).items;
  const reserved = async (): Promise<number> => Object.keys(((await find(clients.front, ledgerPath)) as { data?: object } | undefined)?.data ?? {}).length;
  const removeAll = async (namespace: string): Promise<void> => {
    for (const { metadata: { name } } of await children(namespace)) await clients.front.request({ method: 'DELETE', path: tenantPath(namespace, name) });
  };

  it('let exactly ten of fifty in that ask at once, at two replicas, for one each of ten', async function () {
    this.timeout(180_000);
    const namespace = await head('crowd', { cpu: 10 });
    const answers = await Promise.all(Array.from({ length: 50 }, (_, index) => ask(index % 2 ? second : clients.front, namespace, `t${index}`, { cpu: '1000m' })));
    const outcomes = answers.map(outcome);
    assert.equal(outcomes.filter((each) => each === '201').length, 10);
    const refusals = new Set(outcomes.filter((each) => each !== '201'));
    assert.deepEqual(Array.from(refusals), [
      '422 FieldValueForbidden spec.resourceQuotas[cpu]: Forbidden: 1 is more than what remains, which is 0: tenant tenant-root/crowd has 10, of which other tenants have 10 and 0 is in use; ' +
        'ask for no more than 0, or have the budget of tenant-root/crowd raised',
    ]);
    assert.equal((await children(namespace)).length, 10);
    await eventually('no reservation is left', async () => (await reserved()) === 0);
    await removeAll(namespace);
  });

  it('come back from a replica that is killed in the midst of it', async function () {
    this.timeout(240_000);
    const namespace = await head('killed', { cpu: 40 });
    const asked = Array.from({ length: 40 }, (_, index) => ask(second, namespace, `t${index}`, { cpu: 1 }).catch(() => undefined));
    await eventually('much is reserved', async () => (await reserved()) > 5, { everyMs: 2 });
    await replica.replica.stop('SIGKILL');
    await Promise.all(asked);
    const written = (await children(namespace)).length;
    console.log(`      written before the end: ${written} of 40; reserved at the end: ${await reserved()}`);
    if (written < 40) {
      const rest = 40 - written;
      assert.match(outcome(await ask(clients.front, namespace, 'more', { cpu: rest + 1 })), /^(422|429)/);
      await eventually('all that nobody has can be had', async () => (await ask(clients.front, namespace, 'rest', { cpu: rest })).status === 201, { withinMs: 120_000, everyMs: 1000 });
    }
    await removeAll(namespace);
  });

  it('cannot be given twice by a parent that is lowered while a child is made', async function () {
    this.timeout(120_000);
    const namespace = await head('seesaw', { cpu: 8 });
    for (let round = 0; round < 5; round += 1) {
      const [lowered, created] = await Promise.all([change('tenant-root', 'seesaw', { cpu: 2 }), ask(clients.server, namespace, 'child', { cpu: 6 })]);
      assert.deepEqual([lowered.status, created.status].toSorted((a, b) => a - b), lowered.status === 200 ? [200, 422] : [201, 422]);
      if (created.status === 201) await clients.front.json({ method: 'DELETE', path: tenantPath(namespace, 'child') });
      await eventually('the child is gone', async () => (await children(namespace)).length === 0);
      assert.equal(outcome(await change('tenant-root', 'seesaw', { cpu: 8 })), '200');
    }
  });

  it('are changed up and down within what the tenants above and below leave', async function () {
    this.timeout(120_000);
    const namespace = await head('change', { cpu: 4, memory: '4Gi' });
    await made(namespace, 'a', { cpu: 1 });
    await made(namespace, 'b', { memory: '3Gi' });
    assert.equal(outcome(await change(namespace, 'a', { cpu: 4 })), '200');
    assert.match(outcome(await change(namespace, 'a', { cpu: '4001m' })), /^422 FieldValueForbidden spec\.resourceQuotas\[cpu\]: Forbidden: 4001m is more than what remains, which is 4:/);
    assert.equal(outcome(await change(namespace, 'a', { cpu: '500m' })), '200');
    assert.match(outcome(await change('tenant-root', 'change', { memory: '2Gi' })), /^422 FieldValueForbidden spec\.resourceQuotas\[memory\]: Forbidden: 2Gi is less than the 3Gi that tenants below it have;/);
    assert.equal(outcome(await change('tenant-root', 'change', { memory: '3Gi' })), '200');
    assert.match(outcome(await change(namespace, 'a', { memory: 1 })), /^422 .*\[memory\]/); // a partial budget escapes nothing
    assert.match(outcome(await ask(clients.front, namespace, 'c', { memory: 1 }, { dryRun: 'All' })), /^422 .*\[memory\]/);
    assert.equal(outcome(await change(namespace, 'b', { memory: null })), '200');
    assert.equal(outcome(await ask(clients.front, namespace, 'c', { memory: '3Gi' }, { dryRun: 'All' })), '201');
  });

  it('of root can be raised whatever is given away, and not be lowered below it', async function () {
    this.timeout(120_000);
    await applyRoot(clients.front, { resourceQuotas: { pods: 10 } });
    try {
      await made('tenant-root', 'below', { pods: 10 });
      assert.match(outcome(await ask(clients.front, 'tenant-root', 'more', { pods: 1 })), /^422 .*\[pods\]: Forbidden: 1 is more than what remains, which is 0/);
      assert.equal(outcome(await change('tenant-root', 'root', { pods: 20 })), '200');
      await made('tenant-root', 'more', { pods: 10 });
      assert.match(outcome(await change('tenant-root', 'root', { pods: 19 })), /^422 .*\[pods\]: Forbidden: 19 is less than the 20 that tenants below it have/);
    } finally {
      assert.equal(outcome(await change('tenant-root', 'root', null)), '200');
    }
  });

  it('hold what is applied and what is replaced, too', async function () {
    this.timeout(120_000);
    const namespace = await head('verbs', { cpu: 2 });
    const apply = (name: string, cpu: number): Promise<KubeResponse> =>
      clients.front.request({
        method: 'PATCH',
        path: tenantPath(namespace, name),
        query: { fieldManager: 'test' },
        contentType: 'application/apply-patch+yaml',
        body: { ...tenantNamed(name), spec: { resourceQuotas: { cpu } } },
      });
    assert.match(outcome(await apply('a', 3)), /^422 FieldValueForbidden/);
    assert.equal(outcome(await apply('a', 1)), '201');
    heads.push(tenantPath(namespace, 'a'));
    const put = async (cpu: number): Promise<KubeResponse> => {
      const live = await clients.front.json<KubeObject>({ path: tenantPath(namespace, 'a') });
      return clients.front.request({ method: 'PUT', path: tenantPath(namespace, 'a'), body: { ...live, spec: { resourceQuotas: { cpu } } } });
    };
    assert.equal(outcome(await put(2)), '200');
    assert.match(outcome(await put(3)), /^422 FieldValueForbidden/);
    const labelled = await clients.front.request({ method: 'PATCH', path: tenantPath(namespace, 'a'), contentType: mergePatch, body: { metadata: { labels: { a: 'b' } } } });
    assert.equal(labelled.status, 200);
  });

  it('that are shared are shared at run time: what one namespace uses, another cannot have', async function () {
    this.timeout(240_000);
    const namespace = await head('shared', { cpu: 2, memory: '2Gi', configmaps: 4 });
    assert.equal((await clients.front.request({ method: 'POST', path: tenantPath(namespace), body: tenantNamed('web') })).status, 201);
    heads.push(tenantPath(namespace, 'web'));
    const web = `${namespace}-web`;
    const hard = async (of: string): Promise<Record<string, string> | undefined> => {
      const quota = (await find(clients.front, `/api/v1/namespaces/${of}/resourcequotas/tenant-quota-allocated`)) as { status?: { hard?: Record<string, string> } } | undefined;
      return quota?.status?.hard;
    };
    const allows = (of: string, key: string, amount: string): Promise<true> => eventually(`${of} may use ${amount} ${key}`, async () => ((await hard(of))?.[key] === amount ? true : undefined), { withinMs: 90_000 });
    const pod = (of: string, name: string, cpu: string, memory: string): Promise<KubeResponse> => {
      const resources = { limits: { cpu, memory, 'ephemeral-storage': '1Mi' }, requests: { cpu: '10m', memory, 'ephemeral-storage': '1Mi' } };
      const securityContext = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] }, runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } };
      const spec = { automountServiceAccountToken: false, containers: [{ name: 'main', image: 'none.invalid/main', resources, securityContext }] };
      return clients.front.request({ method: 'POST', path: `/api/v1/namespaces/${of}/pods`, body: { metadata: { name }, spec } });
    };
    await allows(web, 'limits.cpu', '2');
    await allows(namespace, 'limits.cpu', '2');
    await eventually('containers that say nothing have limits', () => find(clients.front, `/api/v1/namespaces/${web}/limitranges/tenant-range-limits`));
    assert.match(outcome(await eventually('the quota is counted', async () => {
      const answer = await pod(web, 'much', '2001m', '1Gi');
      return answer.body.includes('status unknown') ? undefined : answer;
    })), /^403 .*exceeded quota: tenant-quota-allocated/);
    assert.equal(outcome(await pod(web, 'one', '1500m', '1536Mi')), '201');
    await allows(namespace, 'limits.cpu', '500m');
    await allows(namespace, 'limits.memory', '512Mi');
    assert.match(outcome(await pod(namespace, 'two', '501m', '1Mi')), /^403 .*exceeded quota: tenant-quota-allocated.*limits\.cpu/);
    assert.match(outcome(await pod(namespace, 'two', '10m', '513Mi')), /^403 .*exceeded quota: tenant-quota-allocated.*limits\.memory/);
    assert.equal(outcome(await pod(namespace, 'two', '500m', '512Mi')), '201');
    await allows(web, 'configmaps', '3'); // kube-root-ca.crt is in each
    const configMap = (of: string, name: string): Promise<KubeResponse> => clients.front.request({ method: 'POST', path: `/api/v1/namespaces/${of}/configmaps`, body: { metadata: { name } } });
    for (const name of ['a', 'b']) assert.equal(outcome(await configMap(web, name)), '201');
    assert.match(outcome(await configMap(web, 'c')), /^403 .*exceeded quota: tenant-quota-allocated.*configmaps/);
    await allows(namespace, 'configmaps', '1');
    assert.match(outcome(await configMap(namespace, 'c')), /^403 .*exceeded quota/);

    const wide = await eventually('the status tells what remains', async () => {
      const { status } = (await clients.front.json({ path: tenantPath('tenant-root', 'shared') })) as { status?: { remaining?: string; children?: number; quota?: Record<string, object> } };
      return status?.remaining === 'configmaps: 0, cpu: 0, memory: 0' && status;
    }, { withinMs: 90_000 });
    assert.deepEqual([wide.children, wide.quota?.cpu], [1, { limit: '2', carvedOut: '0', used: '2', remaining: '0' }]);
    assert.match(outcome(await ask(clients.front, namespace, 'late', { cpu: '1m' })), /^422 .*\[cpu\]: Forbidden: 1m is more than what remains, which is 0: .* and 2 is in use/);

    await clients.front.json({ method: 'DELETE', path: `/api/v1/namespaces/${web}/pods/one` });
    await allows(namespace, 'limits.cpu', '2');
    assert.equal(outcome(await change('tenant-root', 'shared', null)), '200');
    await eventually('nothing is shared any more', async () => !(await hard(web)) && !(await hard(namespace)));
  });

  it('are refused where they are none, by the field', async () => {
    const quotas = { cpu: -1, memory: '1e1.5', 'no such': 1, fish: 3 };
    const causes = outcome(await ask(clients.front, 'tenant-root', 'wrong', quotas));
    for (const key of Object.keys(quotas)) assert.match(causes, new RegExp(`FieldValueInvalid spec\\.resourceQuotas\\[${key}\\]: Invalid value: `));
  });
});
