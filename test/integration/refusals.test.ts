import { after, before, describe, it } from 'mocha';
import assert from 'node:assert/strict';
import type { Answer } from '../../hack/controlplane/request.ts';
import { eventually } from '../poll.ts';
import { assertStatus } from './assert-status.ts';
import { apiVersion, applyPatch, gateway, gatewayVersion, jsonPatch, mergePatch, tenant } from './bad-input-cases.ts';
import { makeNamespace } from './cluster.ts';
import { seen, sharedTwin, type Twin } from './twin.ts';

describe('what only we refuse, and where', () => {
  let twin: Twin;
  let namespace: string;
  let pid: number | undefined;
  const owner = { 'impersonate-user': 'owner' };
  /** A group that the gate trusts, and that has no permission of its own. */
  const trusted = { ...owner, 'impersonate-group': 'system:serviceaccounts:cozy-fluxcd' };
  const collection = (of = namespace): string => `/apis/${apiVersion}/namespaces/${of}/tenants`;

  before(async function () {
    this.timeout(20 * 60_000); // the components may have to be built
    twin = await sharedTwin();
    pid = twin.cluster.server.pid;
    namespace = await makeNamespace(twin.cluster, 'gate');
    const { kubectl } = twin.cluster;
    await kubectl.run(['create', 'role', 'owner', '-n', namespace, '--verb=*', '--resource=tenants.apps.cozystack.io']);
    await kubectl.run(['create', 'rolebinding', 'owner', '-n', namespace, '--role=owner', '--user=owner']);
    const post = (body: object): Promise<Answer> => twin.request({ method: 'POST', path: collection(), body });
    assert.equal((await post(tenant({}, { name: 'bare' }))).status, 201);
    assert.equal((await post(tenant({ spec: { host: 'example.org' } }, { name: 'hosted' }))).status, 201);
    await eventually('the role holds', async () => (await twin.request({ path: collection(), headers: owner })).status === 200);
  });

  after(() => assert.equal(twin.cluster.server.pid, pid, 'no request may end the process'));

  const host = 'evil.example.org';
  const apply = '?fieldManager=owner&force=true';
  const gated: { name: string; method: string; at: string; rest?: string; type?: string; body: unknown }[] = [
    { name: 'a host at create', method: 'POST', at: '', body: tenant({ spec: { host } }, { name: 'new' }) },
    { name: 'a host in an update', method: 'PUT', at: '/bare', body: tenant({ spec: { host } }, { name: 'bare' }) },
    { name: 'a host in a merge patch', method: 'PATCH', at: '/bare', type: mergePatch, body: { spec: { host } } },
    { name: 'a host in a JSON patch', method: 'PATCH', at: '/bare', type: jsonPatch, body: [{ op: 'replace', path: '/spec/host', value: host }] },
    { name: 'a host in an apply', method: 'PATCH', at: '/bare', rest: apply, type: applyPatch, body: tenant({ spec: { host } }, { name: 'bare' }) },
    { name: 'a host in an apply that creates', method: 'PATCH', at: '/new', rest: apply, type: applyPatch, body: tenant({ spec: { host } }, { name: 'new' }) },
    { name: 'another host', method: 'PATCH', at: '/hosted', type: mergePatch, body: { spec: { host } } },
    { name: 'no host any more in an update', method: 'PUT', at: '/hosted', body: tenant({}, { name: 'hosted' }) },
    { name: 'an empty host', method: 'PATCH', at: '/hosted', type: mergePatch, body: { spec: { host: '' } } },
    { name: 'the host removed by a merge patch', method: 'PATCH', at: '/hosted', type: mergePatch, body: { spec: { host: null } } },
    { name: 'the host removed by a JSON patch', method: 'PATCH', at: '/hosted', type: jsonPatch, body: [{ op: 'remove', path: '/spec/host' }] },
    { name: 'the whole spec removed', method: 'PATCH', at: '/hosted', type: mergePatch, body: { spec: null } },
  ];
  for (const { name, method, at, rest, type, body } of gated) {
    it(`${name} is for trusted groups: 403, and passes with one`, async () => {
      const attempt = async (headers: Record<string, string>): Promise<Answer> => {
        const withVersion = method === 'PUT' && { resourceVersion: (await twin.request({ path: collection() + at })).json().metadata.resourceVersion };
        const sent = withVersion ? { ...(body as object), metadata: { ...(body as any).metadata, ...withVersion } } : body;
        const query = `${rest ? `${rest}&` : '?'}dryRun=All`;
        return twin.request({ method, path: collection() + at + query, body: sent, headers: { ...(type && { 'content-type': type }), ...headers } });
      };
      const refused = await attempt(owner);
      assert.equal(refused.status, 403, refused.text);
      assertStatus(refused, 'Forbidden');
      assert.match(refused.json().message, /^tenants\.apps\.cozystack\.io "\w+" is forbidden: spec\.host can only be set, changed or removed by a member of a trusted group/);
      const passed = await attempt(trusted);
      assert.ok(passed.status < 300, passed.text);
    });
  }

  it('the host may stay as it is', async () => {
    const answer = await twin.request({ method: 'PATCH', path: `${collection()}/hosted`, body: { spec: { host: 'example.org', etcd: true } }, headers: { 'content-type': mergePatch, ...owner } });
    assert.equal(answer.status, 200, answer.text);
  });

  for (const { name, metadata, spec, message } of [
    { name: 'a dash in a name', metadata: { name: 'a-b' }, message: /metadata\.name: .*dash/ },
    { name: 'a name that begins with a digit', metadata: { name: '1a' }, message: /metadata\.name: .*start with a lower case letter/ },
    { name: 'an upper case name', metadata: { name: 'Acme' }, message: /metadata\.name: / },
    { name: 'a dotted name', metadata: { name: 'a.b' }, message: /metadata\.name: / },
    { name: 'a name that is too long for a release', metadata: { name: 'a'.repeat(47) }, message: /no more than 46 characters/ },
    { name: 'a drawn name with a dash', metadata: { generateName: 'a-' }, message: /metadata\.name: .*dash/ },
    { name: 'a host that is none', metadata: { name: 'fresh' }, spec: { host: 'a_b' }, message: /spec\.host: / },
    { name: 'a wildcard host', metadata: { name: 'fresh' }, spec: { host: '*.example.org' }, message: /spec\.host: .*wildcard/ },
  ]) {
    it(`${name}: 422 with the field`, async () => {
      const answer = await twin.request({ method: 'POST', path: collection(), body: { apiVersion, kind: 'Tenant', metadata, ...(spec && { spec }) } });
      assert.equal(answer.status, 422, answer.text);
      assertStatus(answer, 'Invalid');
      assert.match(answer.json().message, message);
      assert.ok(answer.json().details.causes.length > 0);
    });
  }

  it('the name that the server keeps for itself is refused and not shown', async () => {
    const { kubectl } = twin.cluster;
    const records = await kubectl.json(['get', 'tenantrecords.records.cozystack.io', '-n', 'cozy-system']);
    assert.equal(records.items.length, 1, 'the fence, and nothing else');
    const { name } = records.items[0].metadata;
    const path = `/apis/${gatewayVersion}/namespaces/cozy-system/tenantgateways`;
    const created = await twin.request({ method: 'POST', path, body: gateway({ apex: 'example.org' }, { name }) });
    assert.equal(created.status, 403, created.text);
    assertStatus(created, 'Forbidden');
    for (const method of ['GET', 'PATCH', 'DELETE']) {
      const answer = await twin.request({ method, path: `${path}/${name}`, ...(method === 'PATCH' && { body: {}, headers: { 'content-type': mergePatch } }) });
      assert.equal(answer.status, 404, `${method}: ${answer.text}`);
    }
    assert.deepEqual((await twin.request({ path })).json().items, []);
  });

  it('creating in a namespace that is missing or ends is refused as the kube-apiserver does', async () => {
    const { kubectl } = twin.cluster;
    const missing = await twin.requestBoth({ method: 'POST', path: collection('no-such-namespace'), body: tenant() });
    assert.deepEqual(seen(missing.ours), seen(missing.twin));
    assert.equal(missing.ours.status, 404);

    const ending = await makeNamespace(twin.cluster, 'ending');
    const held = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'held', namespace: ending, finalizers: ['test.example.org/held'] } };
    await kubectl.run(['create', '-f', '-'], { input: JSON.stringify(held) });
    await kubectl.run(['delete', 'namespace', ending, '--wait=false']);
    const refused = await eventually('the end of the namespace is known', async () => {
      const both = await twin.requestBoth({ method: 'POST', path: collection(ending), body: tenant() });
      return both.ours.status === 403 && both.twin.status === 403 && both;
    });
    assert.deepEqual(seen(refused.ours), seen(refused.twin));
    await kubectl.run(['patch', 'configmap', 'held', '-n', ending, '--type=merge', '-p', '{"metadata":{"finalizers":null}}']);
  });
});
