import { after, before, describe, it } from 'mocha';
import assert from 'node:assert/strict';
import type { KubeObject } from '../../../api/meta/v1/types.ts';
import { renderManifests } from '../../../hack/manifests/apply.ts';
import type { Gateway } from '../../../pkg/gateway/types.ts';
import { eventually } from '../../poll.ts';
import { change, collection, create, gateways, grpcRoutes, hosts, httpRoutes, ingresses, listenerSets, remove, tcpRoutes, tlsRoutes, udpRoutes, type Attempt, type Case, type Who } from './cases.ts';
import { cordonAttack, cordonCases } from './cordon-cases.ts';
import { gatewayAttacks, gatewayHostnameCases, gatewayListenerCases } from './gateway-cases.ts';
import { claimFor, externalHost, ingressAttack, ingressCases } from './ingress-cases.ts';
import { attachAttack, guardCases, labelAttack, namespaceCases } from './namespace-cases.ts';
import { packageAttack, packageCases, recordAttacks, recordCases, tenantCases, tenantGatewayCases } from './other-cases.ts';
import { rawRouteCases, routeAttacks, routeHostnameCases } from './route-cases.ts';
import { PolicyWorld } from './world.ts';

const admission = '/apis/admissionregistration.k8s.io/v1';
const bindingAt = (name: string): string => `${admission}/validatingadmissionpolicybindings/${name}`;
const rootTenant = '/apis/apps.cozystack.io/v1alpha1/namespaces/tenant-root/tenants/root';

/** What each policy is there for, by its binding. */
const attacks: Record<string, { attempt: Attempt; as?: Who }> = {
  'cozystack-gateway-listener-policy': { attempt: gatewayAttacks.listener },
  'cozystack-gateway-hostname-policy': { attempt: gatewayAttacks.hostname },
  'cozystack-gateway-attached-namespaces-policy': { attempt: packageAttack },
  'cozystack-namespace-host-label-policy': { attempt: labelAttack, as: 'an app chart' },
  'cozystack-route-hostname-policy': { attempt: routeAttacks.hostname },
  'cozystack-raw-route-policy': { attempt: routeAttacks.raw },
  'cozystack-ingress-hostname-policy': { attempt: ingressAttack },
  'tenant-apiserver-records': { attempt: recordAttacks.host },
  'tenant-apiserver-cordon': { attempt: cordonAttack },
  'tenant-apiserver-no-delete': { attempt: remove('/api/v1/namespaces/cozy-system') },
};

describe('policies', () => {
  let world: PolicyWorld;
  before(async function () {
    this.timeout(20 * 60_000); // the components may have to be built
    world = await PolicyWorld.create();
    for (const [binding, { attempt, as }] of Object.entries(attacks)) await eventually(`${binding} works`, async () => (await world.send(attempt, as)).status === 403);
    // Policies see a namespace as the kube-apiserver's cache has it.
    await eventually('the new host of tenant-moved holds', async () => (await status(change(ingresses, 'tenant-moved', 'kept', { spec: { ingressClassName: 'other' } }))) === 403);
  });
  after(() => world?.cluster.controlPlane.stop());

  const status = async (attempt: Attempt, as?: Who): Promise<number> => (await world.send(attempt, as)).status;
  const message = async (attempt: Attempt, as?: Who): Promise<string> => (await world.send(attempt, as)).json<{ message: string }>().message;

  for (const [layer, cases] of Object.entries<Case[]>({
    "layer 1, whom a tenant's listeners admit": gatewayListenerCases,
    "layer 2, hostnames of a tenant's listeners": gatewayHostnameCases,
    "layer 3, what Cozystack's Package attaches": packageCases,
    "layer 4, a tenant's host": tenantCases,
    'layer 5, labels of namespaces': namespaceCases,
    'layer 6, what a TenantGateway attaches': tenantGatewayCases,
    "layer 7, hostnames of a tenant's routes": routeHostnameCases,
    "layer 7, a tenant's routes that have no hostnames": rawRouteCases,
    "layer 8, hosts of a tenant's Ingresses": ingressCases,
    records: recordCases,
    'what a cordon freezes': cordonCases,
    'namespaces that outlive an uninstallation': guardCases,
  })) {
    describe(layer, () => {
      for (const each of cases) it(`${each.name}: ${each.verdict === 'allowed' ? 'allowed' : 'refused'}`, () => world.judge(each));
    });
  }

  describe('as they are installed', () => {
    interface Policy extends KubeObject {
      spec: { failurePolicy?: string };
      status?: { observedGeneration?: number; typeChecking?: { expressionWarnings?: object[] } };
    }

    it('fail closed, are bound to deny, and have no type at fault', async () => {
      const rendered = await renderManifests(world.cluster.controlPlane.kubectlPath, 'policies');
      const named = (kind: string): string[] => rendered.filter((object) => object.kind === kind).map(({ metadata }) => metadata.name);
      assert.ok(named('ValidatingAdmissionPolicy').length >= 7);
      for (const name of named('ValidatingAdmissionPolicy')) {
        const policy = await eventually(`${name} is type-checked`, async () => {
          const found = await world.get<Policy>(`${admission}/validatingadmissionpolicies/${name}`);
          return found.status?.observedGeneration !== undefined && found;
        });
        assert.deepEqual([policy.spec.failurePolicy, policy.status?.typeChecking?.expressionWarnings], ['Fail', undefined], name);
        assert.ok(attacks[name], `${name} has an attack that it stops`);
      }
      for (const name of named('ValidatingAdmissionPolicyBinding')) assert.deepEqual(((await world.get(bindingAt(name))) as { spec?: { validationActions?: string[] } }).spec?.validationActions, ['Deny']);
    });

    it('let the loop make the gateway of a tenant, and serve routes of the tenants below, as far as their hosts are below its own', async () => {
      for (const namespace of ['tenant-acme-shop', 'tenant-acme-dev'] as const)
        await world.post(collection(httpRoutes, namespace), {
          apiVersion: 'gateway.networking.k8s.io/v1', kind: 'HTTPRoute', metadata: { name: 'app' },
          spec: { parentRefs: [{ name: 'cozystack', namespace: 'tenant-acme' }], hostnames: [`app.${hosts[namespace]}`], rules: [{ backendRefs: [{ name: 'app', port: 80 }] }] },
        });
      const hostnames = async (): Promise<unknown[]> => (await world.get<Gateway>(`${collection(gateways, 'tenant-acme')}/cozystack`)).spec?.listeners.map(({ hostname }) => hostname) ?? [];
      await eventually('a listener for the host', async () => (await hostnames()).includes('app.dev.acme.example.org'));
      assert.deepEqual(await hostnames(), [undefined, 'app.dev.acme.example.org']);
      await eventually('the redirect', () => world.get(`${collection(httpRoutes, 'tenant-acme')}/cozystack-http-redirect`));
    });

    const moved = [gateways, listenerSets, httpRoutes, grpcRoutes, tlsRoutes[0]!, tcpRoutes[0]!, udpRoutes, ingresses];

    it('let the garbage collector orphan and hold what would be refused now', async () => {
      for (const resource of moved) {
        for (const metadata of [{ ownerReferences: null }, { finalizers: ['foregroundDeletion'] }])
          await world.judge({ attempt: change(resource, 'tenant-moved', 'kept', { metadata }), as: 'the garbage collector', verdict: 'allowed' });
      }
    });

    it('let finalizers and a namespace go with what would be refused now', async () => {
      for (const resource of moved) await world.patch(`${collection(resource, 'tenant-moved')}/kept`, { metadata: { finalizers: null } });
      await world.delete('/api/v1/namespaces/tenant-moved');
      await eventually('namespace tenant-moved is gone', async () => (await world.cluster.controlPlane.request({ path: '/api/v1/namespaces/tenant-moved' })).status === 404);
    });
  });

  describe('what a user would have seen elsewhere', () => {
    it("77: a Gateway in a namespace without a host listens for the platform's dashboard", async () => {
      const listener = { name: 'web', hostname: 'dashboard.example.org', port: 443, protocol: 'HTTPS', tls: { certificateRefs: [{ name: 'certificate' }] } };
      for (const namespace of ['tenant-bare', 'tenant-empty']) assert.equal(await status(create(gateways, namespace, { gatewayClassName: 'cilium', listeners: [listener] })), 403);
    });

    it("78: a tenant takes the dashboard's name by a GRPCRoute, and all names by a TCPRoute", async () => {
      for (const attempt of Object.values(routeAttacks)) assert.equal(await status(attempt, 'an app chart'), 403);
    });

    it('79: a label is written through a subresource, or emptied', async () => {
      for (const each of namespaceCases.filter(({ name }) => /through (status|finalize)|empt/.test(name))) assert.equal(await status(each.attempt, each.as), 403, each.name);
    });

    it('81: any ServiceAccount of the platform attaches namespaces to a gateway', async () => {
      for (const as of ['a ServiceAccount of cozy-system', 'a ServiceAccount of cozy-fluxcd', 'a ServiceAccount of kube-system'] as const) assert.match(await message(attachAttack, as), /only tenant-apiserver attaches/);
    });

    it('82: the guard of a namespace goes with the labels of its binding', async () => {
      await world.patch(bindingAt('tenant-apiserver-no-delete'), { metadata: { labels: null, annotations: null } });
      for (const each of guardCases) await world.judge(each);
    });

    it("80: Ingresses are judged by the apex that the platform had when the policy was made", async () => {
      assert.equal(await status(claimFor('dashboard.example.net')), 201);
      await world.patch(rootTenant, { spec: { host: 'example.net' } });
      await eventually('the new apex holds', async () => (await status(claimFor('dashboard.example.net'))) === 403);
      assert.match(await message(claimFor('dashboard.example.net')), /outside of the apex of the platform, example\.net$/);
      assert.equal(await status(claimFor('dashboard.example.org')), 201);
    });

    it('80: without an apex of the platform, its names are anybody’s', async () => {
      await world.patch(rootTenant, { spec: { host: null } });
      await eventually('no host of others is allowed', async () => (await status(claimFor('www.elsewhere.com'))) === 403);
      assert.match(await message(claimFor('www.elsewhere.com')), /the apex of the platform is not known, so that no other host is allowed$/);
      assert.equal(await status(claimFor('shop.customer1.io')), 201);
      await world.patch(rootTenant, { spec: { host: 'example.org' } });
      await eventually('the apex is back', async () => (await status(claimFor('www.elsewhere.com'))) === 201);
    });

    it('80: without the object that says the apex, nothing is judged, or nothing is allowed anywhere', async () => {
      await world.patch(bindingAt('cozystack-ingress-hostname-policy'), { spec: { paramRef: { name: 'nowhere' } } });
      await eventually('tenants are refused', async () => (await status(externalHost)) === 422);
      assert.match(await message(externalHost), /no params found/);
      for (const namespace of ['cozy-harbor', 'plain']) assert.equal(await status({ ...ingressAttack, path: ingressAttack.path.replace('tenant-acme', namespace) }), 201);
      await world.patch(bindingAt('cozystack-ingress-hostname-policy'), { spec: { paramRef: { name: 'tenant-root' } } });
      await eventually('tenants are judged', async () => (await status(externalHost)) === 201);
    });
  });

  // The last, since each goes for good.
  describe('without', () => {
    const without = async (binding: string): Promise<void> => {
      const { attempt, as } = attacks[binding]!;
      assert.equal(await status(attempt, as), 403, binding);
      await world.delete(bindingAt(binding));
      await eventually(`the attack passes without ${binding}`, async () => (await status(attempt, as)) < 300);
    };

    it('each that is the only one for its requests, the attack passes', async () => {
      await Promise.all(Object.keys(attacks).filter((binding) => binding !== 'cozystack-gateway-hostname-policy').map(without));
    });

    it('the other of the two that judge Gateways, the attack passes', () => without('cozystack-gateway-hostname-policy'));

    for (const [layer, attempt] of [['4', recordAttacks.host], ['6', recordAttacks.attachedNamespaces]] as const)
      it(`the server's own admission (layer ${layer}), what it refuses would be stored`, async () => assert.equal(await status(attempt, 'the server'), 201));
  });
});
