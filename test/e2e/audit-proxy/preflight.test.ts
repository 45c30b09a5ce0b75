import { after, before, describe, it } from 'mocha';
import assert from 'node:assert/strict';
import { apiServices } from '../../../hack/local/product.ts';
import { proxyAccount } from '../../../hack/local/audit-proxy.ts';
import type { Answer, Call } from '../../../hack/controlplane/request.ts';
import { KubeClient } from '../../../pkg/kube/client.ts';
import { loadRestConfig } from '../../../pkg/kube/config.ts';
import { tenantNamed, tenantPath, Watch } from '../../integration/client.ts';
import { makeNamespace, ownCluster, type Cluster } from '../../integration/cluster.ts';
import { normalised } from '../../integration/twin.ts';
import { eventually } from '../../poll.ts';
import { Proxied } from './proxied.ts';
import { TenantUser } from './tenant-user.ts';

/** One request of a tenant user, and the code that it is answered with, whatever is in between. */
interface Step {
  what: string;
  call: Call;
  code: number;
}

/** The life of a tenant, and what a user may not do. */
const steps = (namespace: string): Step[] => {
  const [all, one, foreign] = [tenantPath(namespace), tenantPath(namespace, 'acme'), tenantPath('kube-public')];
  const apply = { 'content-type': 'application/apply-patch+yaml' };
  return [
    { what: 'create', call: { method: 'POST', path: all, body: tenantNamed('acme') }, code: 201 },
    { what: 'create again', call: { method: 'POST', path: all, body: tenantNamed('acme') }, code: 409 },
    { what: 'create what is invalid', call: { method: 'POST', path: all, body: tenantNamed('a-b') }, code: 422 },
    { what: 'get', call: { path: one }, code: 200 },
    { what: 'list', call: { path: all }, code: 200 },
    { what: 'list as a table', call: { path: all, headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' } }, code: 200 },
    { what: 'watch', call: { path: `${all}?watch=true&timeoutSeconds=1` }, code: 200 },
    { what: 'apply', call: { method: 'PATCH', path: `${one}?fieldManager=user`, headers: apply, body: tenantNamed('acme', { labels: { tier: 'gold' } }) }, code: 200 },
    { what: 'change nothing', call: { method: 'PATCH', path: one, headers: { 'content-type': 'application/merge-patch+json' }, body: {} }, code: 200 },
    { what: 'set a host', call: { method: 'PATCH', path: one, headers: { 'content-type': 'application/merge-patch+json' }, body: { spec: { host: 'example.org' } } }, code: 403 },
    { what: 'get elsewhere', call: { path: tenantPath('kube-public', 'acme') }, code: 403 },
    { what: 'list elsewhere', call: { path: foreign }, code: 403 },
    { what: 'watch elsewhere', call: { path: `${foreign}?watch=true` }, code: 403 },
    { what: 'create elsewhere', call: { method: 'POST', path: foreign, body: tenantNamed('acme') }, code: 403 },
    { what: 'delete elsewhere', call: { method: 'DELETE', path: tenantPath('kube-public', 'acme') }, code: 403 },
    { what: 'impersonate somebody', call: { path: all, headers: { 'impersonate-user': 'root', 'impersonate-group': 'system:masters' } }, code: 403 },
    { what: 'get nothing', call: { path: tenantPath(namespace, 'missing') }, code: 404 },
    { what: 'delete', call: { method: 'DELETE', path: one }, code: 200 },
  ];
};

describe('audit-proxy in front of tenant-apiserver', function () {
  this.timeout(180_000);
  this.bail(true); // each goes on where the one before has ended
  let cluster: Cluster;
  let proxied: Proxied;
  let user: TenantUser;
  let namespace: string;
  let client: KubeClient;
  const apiService = async (name: string): Promise<any> => (await cluster.controlPlane.request({ path: `/apis/apiregistration.k8s.io/v1/apiservices/${name}` })).json();

  before(async function () {
    this.timeout(300_000);
    cluster = await ownCluster();
    namespace = await makeNamespace(cluster, 'shop');
    user = await TenantUser.named(cluster, 'alice', 'shoppers');
    await user.mayDo('get,list,watch,create,update,patch,delete', namespace);
    client = new KubeClient(await loadRestConfig(await user.kubeconfig()), 'preflight/1');
  });
  after(() => client?.close());

  /** What each step is answered with. */
  const live = async (): Promise<{ what: string; status: number; text: string }[]> => {
    const seen: { what: string; status: number; text: string }[] = [];
    for (const { what, call } of steps(namespace)) {
      const { status, text }: Answer = await user.request(call);
      seen.push({ what, status, text: normalised(text).replaceAll(/"(\d+[smhd])+"/g, '"<age>"') });
      if (what === 'create') await eventually('the loop has seen the tenant', async () => (await user.request({ path: tenantPath(namespace, 'acme') })).json().status?.observedGeneration === 1);
    }
    await eventually('the tenant is gone', async () => (await user.request({ path: tenantPath(namespace, 'acme') })).status === 404);
    return seen;
  };

  it('is put in place as the checklist says, and nobody but the audit log can tell', async () => {
    // the server runs, and both APIServices are available before the proxy is there
    proxied = await Proxied.beside(cluster);
    await proxied.available();
    const registered = await Promise.all(apiServices.map(apiService));
    const without = await live();
    assert.deepEqual(without.map(({ what, status }) => [what, status]), steps(namespace).map(({ what, code }) => [what, code]));

    // the proxy: impersonation, the backend's URL and trust, extras none, trust in the front through the auth-reader RoleBinding
    await proxied.start();
    assert.deepEqual(await proxied.events(), [], 'nobody is sent to it yet');

    // both APIServices point at it; only the service reference and the authority change
    await proxied.handOver();
    await proxied.available();
    for (const [index, name] of apiServices.entries()) {
      const { service, caBundle, ...rest } = (await apiService(name)).spec;
      const { service: formerService, caBundle: formerBundle, ...formerRest } = registered[index].spec;
      assert.deepEqual(rest, formerRest);
      assert.deepEqual([formerService.name, service.name, service.namespace], ['tenant-apiserver', 'audit-proxy', 'cozy-system']);
      assert.notEqual(caBundle, formerBundle);
    }

    // each request of a tenant user is answered as without it
    for (const [index, answer] of (await live()).entries()) assert.deepEqual(answer, without[index]);

    // a watch tells what happens while it is open
    const watch = await Watch.open(client, tenantPath(namespace));
    const made = await user.request({ method: 'POST', path: tenantPath(namespace), body: tenantNamed('seen') });
    assert.equal(made.status, 201);
    await eventually('the watch tells of it', () => watch.events.some(({ type, object }) => type === 'ADDED' && object.metadata.name === 'seen'));
    watch.close();
  });

  it('records who did what, and never itself', async () => {
    const drawn = (await user.request({ method: 'POST', path: tenantPath(namespace), body: { ...tenantNamed(''), metadata: { generateName: 'drawn' } } })).json();
    await proxied.event('the drawn name', ({ objectRef }) => objectRef?.name === drawn.metadata.name);
    const events = await proxied.events();
    for (const event of events) {
      assert.equal(event.kind, 'Event');
      assert.ok(event.user.username !== proxyAccount && !event.user.groups?.includes('system:serviceaccounts:cozy-system') , JSON.stringify(event.user));
      assert.ok(!['get', 'list', 'watch'].includes(event.verb), 'reads are not recorded');
    }
    const ofAlice = events.filter(({ user: who }) => who.username === 'alice');
    assert.deepEqual([...new Set(ofAlice.map(({ verb }) => verb))].toSorted(), ['create', 'delete', 'patch']);
    for (const { user: who, level, stage, sourceIPs, userAgent } of ofAlice) {
      assert.deepEqual([who.groups, level, stage], [['shoppers', 'system:authenticated'], 'RequestResponse', 'ResponseComplete']);
      assert.ok(sourceIPs?.includes('127.0.0.1'));
      assert.ok(userAgent === undefined || !userAgent.includes('audit-proxy'));
    }
    const created = ofAlice.find(({ objectRef }) => objectRef?.name === drawn.metadata.name)!;
    assert.deepEqual(created.objectRef, { resource: 'tenants', namespace, name: drawn.metadata.name, uid: drawn.metadata.uid, apiGroup: 'apps.cozystack.io', apiVersion: 'v1alpha1' });
    assert.deepEqual([created.responseStatus?.code, (created.responseObject as any).metadata.uid], [201, drawn.metadata.uid]);
    assert.equal((created.requestObject as any).metadata.generateName, 'drawn');
    const refused = ofAlice.find(({ responseStatus, verb, objectRef }) => responseStatus?.code === 403 && verb === 'patch' && objectRef?.name === 'acme')!;
    assert.equal(refused.responseStatus?.reason, 'Forbidden');
    const text = JSON.stringify(events);
    assert.ok(!text.includes(proxyAccount), "no event names the proxy's ServiceAccount");
  });

  it('tells with one Audit-ID of the same request as the kube-apiserver', async () => {
    const answer = await user.request({ method: 'POST', path: tenantPath(namespace), body: tenantNamed('traced') });
    const ids = new Set(String(answer.headers['audit-id']).split(', ')); // the front says it, and so does the server
    const event = await proxied.event('the traced tenant', ({ objectRef }) => objectRef?.name === 'traced');
    assert.deepEqual([...ids], [event.auditID]);
  });

  it('hands back as it took over', async () => {
    const watch = await Watch.open(client, tenantPath(namespace));
    await proxied.handBack();
    await proxied.available();
    const events = (await proxied.events()).length;
    assert.equal((await user.request({ method: 'DELETE', path: tenantPath(namespace, 'traced') })).status, 200);
    await proxied.stop();
    await eventually("the proxy's stop ends its watches, whose readers begin anew at the server", () => watch.isOver);
    assert.equal((await user.request({ path: tenantPath(namespace) })).status, 200);
    assert.equal((await proxied.events()).length, events);
  });
});
