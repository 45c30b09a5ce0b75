import { before, describe, it } from 'mocha';
import assert from 'node:assert/strict';
import { makeNamespace } from './cluster.ts';
import { sharedTwin, type Twin } from './twin.ts';

const tenants = 'tenants.apps.cozystack.io';
const gateways = 'tenantgateways.gateway.cozystack.io';

describe('kubectl reads', () => {
  let twin: Twin;
  let namespace: string;

  before(async function () {
    this.timeout(180_000);
    twin = await sharedTwin();
    namespace = await makeNamespace(twin.cluster, 'read');
    const labels = (tier: string): Record<string, string> => ({ tier, made: namespace });
    await twin.make({ kind: 'Tenant', metadata: { namespace, name: 'gold', labels: labels('gold') }, spec: { etcd: true, resourceQuotas: { cpu: 4, memory: '8Gi' } } });
    await twin.make({ kind: 'Tenant', metadata: { namespace, name: 'iron', labels: labels('iron') } });
    await twin.make({ kind: 'Tenant', metadata: { namespace, name: 'tin' } });
    await twin.make({ kind: 'TenantGateway', metadata: { namespace, name: 'front', labels: labels('gold') }, spec: { apex: 'example.org', attachedNamespaces: ['shop'] } });
    await twin.make({ kind: 'TenantGateway', metadata: { namespace, name: 'back' }, spec: { apex: 'example.net', certMode: 'existingSecret', wildcardSecretRef: { name: 'tls' } } });
  });

  /** What is asked of each resource; `<name>` is one of its objects. */
  const commands: { args: string[]; shows?: RegExp; code?: number }[] = [
    { args: ['get', '<resource>'], shows: /^NAME +.*AGE/ },
    { args: ['get', '<resource>', '<name>'] },
    { args: ['get', '<resource>/<name>', '<resource>/<name>'] },
    { args: ['get', '<resource>', '-o', 'wide'] },
    { args: ['get', '<resource>', '-o', 'name'] },
    { args: ['get', '<resource>', '-o', 'yaml'], shows: /^kind: List$/m },
    { args: ['get', '<resource>', '<name>', '-o', 'yaml'], shows: /^apiVersion: (apps|gateway)\.cozystack\.io\/v1alpha1$/m },
    { args: ['get', '<resource>', '<name>', '-o', 'json'], shows: /"uid": "<uid>"/ },
    { args: ['get', '<resource>', '<name>', '-o', 'jsonpath={.spec}'] },
    { args: ['get', '<resource>', '-o', 'go-template={{range .items}}{{.metadata.name}} {{end}}'] },
    { args: ['get', '<resource>', '-o', 'custom-columns=NAME:.metadata.name,READY:.status.conditions[?(@.type=="Ready")].status,NONE:.spec.nope'], shows: /False +<none>/ },
    { args: ['get', '<resource>', '--show-labels'], shows: /tier=gold/ },
    { args: ['get', '<resource>', '--show-kind', '--no-headers'] },
    { args: ['get', '<resource>', '-L', 'tier'], shows: /TIER/ },
    { args: ['get', '<resource>', '--sort-by=.metadata.name'] },
    { args: ['get', '<resource>', '-l', 'tier=gold'] },
    { args: ['get', '<resource>', '-l', 'tier in (gold,iron),made'] },
    { args: ['get', '<resource>', '-l', '!tier'] },
    { args: ['get', '<resource>', '-l', 'tier=none'] },
    { args: ['get', '<resource>', '-l', 'tier in'], code: 1 },
    { args: ['get', '<resource>', '--field-selector', 'metadata.name=<name>'] },
    { args: ['get', '<resource>', '--field-selector', 'metadata.name!=<name>'] },
    { args: ['get', '<resource>', '--field-selector', 'spec.host=x'], code: 1 },
    { args: ['get', '<resource>', '--chunk-size=1'] },
    { args: ['get', '<resource>', 'missing'], code: 1 },
    { args: ['get', '<resource>', '<name>', 'missing'], code: 1 },
    { args: ['get', '<resource>', 'missing', '--ignore-not-found'] },
    { args: ['get', '<resource>', '<name>', '--subresource=status'] },
    { args: ['get', '<resource>', '<name>', '--subresource=status', '-o', 'yaml'] },
    { args: ['get', '<resource>', '<name>', '--subresource=scale'], code: 1 },
    { args: ['describe', '<resource>'] },
    { args: ['describe', '<resource>', '<name>'], shows: /^Status:$/m },
    { args: ['describe', '<resource>', 'missing'], code: 1 },
    { args: ['describe', '<resource>', '-l', 'tier=gold'] },
  ];
  for (const [resource, name] of [[tenants, 'gold'], [gateways, 'front']] as const) {
    for (const { args, shows, code = 0 } of commands) {
      const filled = args.map((text) => text.replaceAll('<resource>', resource).replaceAll('<name>', name));
      it(filled.join(' '), async () => {
        const said = await twin.same([...filled, '-n', namespace]);
        assert.equal(said.code, code, said.stderr);
        if (shows) assert.match(said.stdout, shows);
      });
    }

    it(`get ${resource} of all namespaces shows where each is`, async () => {
      const shown = await twin.sameOutput(['get', resource, '-A', '-l', `made=${namespace}`, '--chunk-size=1']);
      assert.match(shown, new RegExp(`^${namespace} +${name} `, 'm'));
    });

    for (const args of [[`${resource}.spec`], [resource, '--recursive'], [`${resource}.status.conditions`], [`${resource}.spec.nope`], [`${resource}.spec`, '--output=plaintext-openapiv2']]) {
      it(`explain ${args.join(' ')}`, () => twin.same(['explain', ...args]));
    }

    it(`explain ${resource} tells of the kind in its own words, of apiVersion, kind and metadata in ours`, async () => {
      const { ours, twin: other } = await twin.both(['explain', resource]);
      assert.equal(ours.code, 0, ours.stderr);
      const fields = (text: string): string[] => text.split('\n').filter((line) => line.includes('\t<') || /^\w+:/.test(line));
      assert.deepEqual(fields(ours.stdout), fields(other.stdout));
      assert.deepEqual(ours.stdout.match(/\n {2}spec\t[^]*/)?.[0], other.stdout.match(/\n {2}spec\t[^]*/)?.[0]);
    });
  }

  it('the short name stands for tenantgateways', async () => {
    const { kubectl } = twin.cluster;
    assert.equal(await kubectl.run(['get', 'tgw', '-n', namespace, '-o', 'name']), `${gateways.replace('gateways', 'gateway')}/back\n${gateways.replace('gateways', 'gateway')}/front\n`);
    await twin.same(['get', 'tgw.gateway.cozystack.io', 'front', '-n', namespace]);
    await twin.same(['get', 'tenantgateway.v1alpha1.gateway.cozystack.io', 'front', '-n', namespace]);
  });

  it('managed fields tell who set what, in our version', async () => {
    const managed = async (resource: string): Promise<object[]> => {
      const object = await twin.cluster.kubectl.json(['get', resource, 'tin', '-n', namespace, '--show-managed-fields']);
      return object.metadata.managedFields.filter(({ subresource }: any) => !subresource).map(({ apiVersion, time: _time, fieldsV1, ...entry }: any) => {
        const { 'f:finalizers': _finalizers, ...metadata } = fieldsV1['f:metadata'] ?? {};
        const { 'f:metadata': _metadata, ...fields } = fieldsV1;
        return { ...entry, version: apiVersion.split('/')[1], fields, metadata };
      });
    };
    assert.deepEqual(await managed(tenants), await managed('tenants.apps.twinned.test'));
    const object = await twin.cluster.kubectl.json(['get', tenants, 'tin', '-n', namespace, '--show-managed-fields']);
    for (const { apiVersion } of object.metadata.managedFields) assert.equal(apiVersion, 'apps.cozystack.io/v1alpha1');
  });

  for (const group of ['apps.cozystack.io', 'gateway.cozystack.io']) {
    it(`discovery describes ${group}`, async () => {
      await twin.sameOutput(['get', '--raw', `/apis/${group}`]);
      await twin.sameOutput(['api-resources', `--api-group=${group}`, '-o', 'wide']);
      assert.match(await twin.cluster.kubectl.run(['api-versions']), new RegExp(`^${group}/v1alpha1$`, 'm'));
      const { ours, twin: other } = await twin.both(['get', '--raw', `/apis/${group}/v1alpha1`]);
      const described = ({ stdout }: { stdout: string }): object => {
        const { resources, ...list } = JSON.parse(stdout);
        // the hash of a storage version is the business of who stores
        return { ...list, resources: resources.map(({ storageVersionHash: _hash, verbs, ...resource }: any) => ({ ...resource, verbs: verbs.toSorted() })) };
      };
      assert.deepEqual(described(ours), described(other));
    });
  }
});
