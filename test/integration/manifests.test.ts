import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import type { ControlPlane } from '../../hack/controlplane/controlplane.ts';
import { applyManifests, renderManifests, type Manifest } from '../../hack/manifests/apply.ts';
import { proxyAccount } from '../../hack/local/audit-proxy.ts';
import { ProxyOptions } from '../../pkg/auditproxy/options.ts';
import { Flags } from '../../pkg/server/flags.ts';
import { parsePolicy } from '../../pkg/audit/policy-file.ts';
import { eventually } from '../poll.ts';
import { ownControlPlane } from './shared.ts';

const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, '../..');
const server = 'system:serviceaccount:cozy-system:tenant-apiserver';
const apiServices = ['v1alpha1.apps.cozystack.io', 'v1alpha1.gateway.cozystack.io'];
const apiServicePath = (name: string): string => `/apis/apiregistration.k8s.io/v1/apiservices/${name}`;
const kept = '/apis/records.cozystack.io/v1alpha1/namespaces/tenant-root/tenantrecords/kept';
const caBundle = Buffer.from('-----BEGIN CERTIFICATE-----\nMA==\n-----END CERTIFICATE-----\n').toString('base64');

/** The commands of a section of docs/install.md that are meant to be run as they stand. */
const commandsOf = async (heading: string): Promise<string[]> => {
  const text = await readFile(path.join(root, 'docs/install.md'), 'utf8');
  const section = text.split(/^(?=##)/m).find((part) => part.startsWith(`${heading}\n`));
  assert.ok(section, `docs/install.md has no section ${heading}`);
  const commands = [...section.matchAll(/^```sh\n([^]*?)^```/gm)].flatMap(([, block]) => block!.trim().split('\n'));
  assert.ok(commands.length > 0, `section ${heading} has no commands`);
  return commands;
};

describe('manifests', function () {
  this.timeout(120_000);
  let controlPlane: ControlPlane;
  let kubectl: (...args: string[]) => Promise<string>;
  let follow: (heading: string) => Promise<void>;
  before(async function () {
    this.timeout(20 * 60_000); // the components may have to be built
    controlPlane = await ownControlPlane();
    const { kubectlPath, kubeconfigPath } = controlPlane;
    const environment = {
      KUBECONFIG: kubeconfigPath,
      KUBECACHEDIR: path.join(controlPlane.directory, 'kubectl-cache'),
      PATH: `${path.dirname(kubectlPath)}${path.delimiter}${process.env['PATH']}`,
    };
    const options = { cwd: root, env: { ...process.env, ...environment } };
    kubectl = async (...args) => (await run(kubectlPath, args, options)).stdout;
    follow = async (heading) => {
      for (const command of await commandsOf(heading)) await run('sh', ['-c', command], options);
    };
  });
  after(() => controlPlane?.stop());

  const get = async (where: string): Promise<any> => {
    const answer = await controlPlane.request({ path: where });
    assert.equal(answer.status, 200, answer.text);
    return answer.json();
  };
  const isThere = async (where: string): Promise<boolean> => (await controlPlane.request({ path: where })).status === 200;
  const createRecord = (): Promise<unknown> => eventually('a record is created', async () => {
    const where = path.posix.dirname(kept);
    const body = { apiVersion: 'records.cozystack.io/v1alpha1', kind: 'TenantRecord', metadata: { name: 'kept' }, spec: {} };
    const answer = await controlPlane.request({ method: 'POST', path: where, body, headers: { 'impersonate-user': server } });
    return answer.status === 201 && answer.json();
  });
  /** Kind, name and version of everything that the base holds. */
  const versions = async (): Promise<string[]> =>
    (await kubectl('get', '-k', 'manifests/base', '-o', 'jsonpath={range .items[*]}{.kind}/{.metadata.name} {.metadata.resourceVersion}{"\\n"}{end}')).trim().split('\n');

  describe('render', () => {
    const kinds = (objects: { kind: string }[]): string[] => [...new Set(objects.map(({ kind }) => kind))].toSorted();

    it('the base, with both APIServices and no caBundle', async () => {
      const base = await renderManifests(controlPlane.kubectlPath, 'base');
      assert.ok(kinds(base).includes('Deployment'));
      assert.ok(!kinds(base).includes('CustomResourceDefinition'), 'deleting the base must not delete tenants');
      const services = base.filter(({ kind }) => kind === 'APIService');
      assert.deepEqual(services.map(({ metadata }) => metadata.name), apiServices);
      for (const { spec } of services) assert.deepEqual([spec?.['caBundle'], spec?.['service'].port], [undefined, 443]);
    });

    it('an overlay for a server that runs outside', async () => {
      const local = await renderManifests(controlPlane.kubectlPath, 'overlays/local');
      const base = await renderManifests(controlPlane.kubectlPath, 'base');
      assert.deepEqual(kinds(base).filter((kind) => !kinds(local).includes(kind)), ['Deployment', 'PodDisruptionBudget']);
      assert.deepEqual(local.find(({ kind }) => kind === 'Service')?.spec, { type: 'ExternalName', externalName: 'localhost' });
    });

    it('a component by which cert-manager issues the certificate', async () => {
      const objects = await renderManifests(controlPlane.kubectlPath, 'overlays/cert-manager');
      const annotations = objects.filter(({ kind }) => kind === 'APIService').map(({ metadata }) => metadata.annotations?.['cert-manager.io/inject-ca-from']);
      assert.deepEqual(annotations, ['cozy-system/tenant-apiserver', 'cozy-system/tenant-apiserver']);
      const pod = objects.find(({ kind }) => kind === 'Deployment')?.spec?.['template'].spec;
      const [volume] = pod.volumes;
      const [mount] = pod.containers[0].volumeMounts;
      const certificate = objects.find(({ kind, metadata }) => kind === 'Certificate' && metadata.name === 'tenant-apiserver');
      assert.equal(volume.secret.secretName, certificate?.spec?.['secretName']);
      assert.equal(mount.name, volume.name);
      for (const flag of [`--tls-cert-file=${mount.mountPath}/tls.crt`, `--tls-private-key-file=${mount.mountPath}/tls.key`, '--shutdown-delay-seconds=10']) assert.ok(pod.containers[0].args.includes(flag), flag);
    });

    const container = (objects: Manifest[], name: string): { args: string[]; volumeMounts: { name: string; mountPath: string }[]; secretOf: (mountPath: string) => string } => {
      const { containers: [first], volumes } = objects.find(({ kind, metadata }) => kind === 'Deployment' && metadata.name === name)!.spec!['template'].spec;
      const secretOf = (mountPath: string): string => volumes.find((volume: any) => volume.name === first.volumeMounts.find((mount: any) => mount.mountPath === mountPath).name).secret.secretName;
      return { ...first, secretOf };
    };
    const proxyRoles = (objects: Manifest[]): string[] => objects.filter(({ kind, metadata }) => kind.includes('Role') && metadata.name === 'audit-proxy').map(({ kind }) => kind).toSorted();

    it('a component that puts audit-proxy in front, whose connections the server knows', async () => {
      const objects = await renderManifests(controlPlane.kubectlPath, 'overlays/audit-proxy');
      for (const { metadata, spec } of objects.filter(({ kind }) => kind === 'APIService')) assert.deepEqual([metadata.annotations, spec?.['service'].name], [undefined, 'audit-proxy']);
      assert.ok(container(objects, 'tenant-apiserver').args.includes(`--trusted-proxy-user=${proxyAccount}`));
      assert.equal(container(objects, 'audit-proxy').secretOf('/etc/audit-proxy/backend'), 'tenant-apiserver-serving');
      assert.deepEqual(proxyRoles(objects), ['ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding']);
    });

    it("components by which audit-proxy's certificate is cert-manager's, or one that is there", async () => {
      const issued = await renderManifests(controlPlane.kubectlPath, 'overlays/audit-proxy-cert-manager');
      const annotations = issued.filter(({ kind }) => kind === 'APIService').map(({ metadata, spec }) => [metadata.annotations?.['cert-manager.io/inject-ca-from'], spec?.['service'].name]);
      assert.deepEqual(annotations, [['cozy-system/audit-proxy', 'audit-proxy'], ['cozy-system/audit-proxy', 'audit-proxy']]);
      const certificate = issued.find(({ kind, metadata }) => kind === 'Certificate' && metadata.name === 'audit-proxy');
      assert.ok(certificate?.spec?.['dnsNames'].includes('audit-proxy.cozy-system.svc'));
      assert.equal(container(issued, 'audit-proxy').secretOf('/etc/audit-proxy/backend'), container(issued, 'tenant-apiserver').secretOf('/etc/tenant-apiserver/tls'));

      const given = await renderManifests(controlPlane.kubectlPath, 'overlays/audit-proxy-existing-secret');
      assert.deepEqual(given.filter(({ kind }) => kind === 'Certificate'), []);
      for (const [objects, mode] of [[issued, 'cert-manager'], [given, 'existing-secret']] as const) {
        const { args, secretOf } = container(objects, 'audit-proxy');
        assert.equal(secretOf('/etc/audit-proxy/tls'), certificate?.spec?.['secretName']);
        assert.deepEqual(proxyRoles(objects), []);
        const options = new ProxyOptions();
        const flags = new Flags();
        options.addFlags(flags);
        const config = path.join(controlPlane.directory, 'audit-proxy.yaml');
        await writeFile(config, objects.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === 'audit-proxy')!.data!['config.yaml']!);
        flags.parse(args.map((arg) => arg.replace('/etc/audit-proxy/config/config.yaml', config)));
        await options.load();
        assert.deepEqual([options.validate(), options.tlsMode], [[], mode]);
      }
    });

    it('a component that has requests recorded, by a policy that the server takes', async () => {
      const objects = await renderManifests(controlPlane.kubectlPath, 'overlays/audit-log');
      const pod = objects.find(({ kind }) => kind === 'Deployment')?.spec?.['template'].spec;
      const policy = objects.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name?.startsWith('tenant-apiserver-audit-policy-'));
      assert.equal(pod.volumes[0].configMap.name, policy?.metadata.name);
      const [mount] = pod.containers[0].volumeMounts;
      for (const flag of [`--audit-policy-file=${mount.mountPath}/policy.yaml`, '--audit-log-path=-', '--shutdown-delay-seconds=10']) assert.ok(pod.containers[0].args.includes(flag), flag);
      const { data } = policy as unknown as { data: Record<string, string> };
      assert.doesNotThrow(() => parsePolicy(data['policy.yaml']!));
    });
  });

  it('are installed as docs/install.md says', async () => {
    await follow('## Install');
    await createRecord();
    const deployment = await get('/apis/apps/v1/namespaces/cozy-system/deployments/tenant-apiserver');
    assert.equal(deployment.spec.template.spec.containers[0].image, 'tenant-apiserver:0.1.0');
    await eventually('the pods are accepted, and wait for a node', async () => (await kubectl('get', 'pods', '-n', 'cozy-system', '-o', 'name')).trim().split('\n').length === 2);
  });

  it('change nothing when they are applied again', () =>
    eventually('a second apply after which nothing has another version', async () => { // controllers write statuses meanwhile
      const before = await versions();
      await kubectl('apply', '--server-side', '-k', 'manifests/base');
      assert.deepEqual(await versions(), before);
      return before.length > 10;
    }));

  it('leave caBundle to the leader, in whatever way they are applied', async () => {
    for (const name of apiServices) {
      const answer = await controlPlane.request({
        method: 'PATCH', path: apiServicePath(name), body: { spec: { caBundle } },
        headers: { 'impersonate-user': server, 'content-type': 'application/merge-patch+json' },
      });
      assert.equal(answer.status, 200, answer.text);
    }
    for (const apply of [['apply', '--server-side', '--force-conflicts'], ['apply'], ['apply']]) {
      await kubectl(...apply, '-k', 'manifests/base');
      for (const name of apiServices) assert.equal((await get(apiServicePath(name))).spec.caBundle, caBundle, `kubectl ${apply.join(' ')}`);
    }
  });

  it('are upgraded as docs/install.md says, with the tenants kept', async () => {
    const record = await get(kept);
    await follow('## Upgrade');
    assert.deepEqual(await get(kept), record);
    for (const name of apiServices) assert.equal((await get(apiServicePath(name))).spec.caBundle, caBundle);
  });

  it('let nobody delete the namespaces by the way', async () => {
    await assert.rejects(kubectl('delete', 'namespace', 'tenant-root'), /first remove its label platform\.cozystack\.io\/no-delete/);
    await assert.rejects(kubectl('delete', 'namespace', 'cozy-system'), /first remove its label/);
  });

  it('are uninstalled as docs/install.md says, with the tenants kept', async () => {
    const record = await get(kept);
    await follow('## Uninstall');
    for (const gone of [...apiServices.map(apiServicePath), '/apis/apps/v1/namespaces/cozy-system/deployments/tenant-apiserver', '/apis/rbac.authorization.k8s.io/v1/clusterroles/tenant-apiserver']) assert.ok(!(await isThere(gone)), gone);
    assert.deepEqual(await get(kept), record);
    await kubectl('create', 'namespace', 'unrelated');
    await kubectl('delete', 'namespace', 'unrelated', '--timeout=30s'); // waits until it is gone
  });

  it('are installed again over what was kept, by the program that the tests and npm start use', async () => {
    const { kubectlPath, kubeconfigPath } = controlPlane;
    await applyManifests({ kubectlPath, kubeconfigPath, overlay: 'overlays/local', port: 23456 });
    assert.equal((await get(apiServicePath(apiServices[0]!))).spec.service.port, 23456);
    assert.ok(await isThere(kept));
  });

  it('keep the tenants even when the whole base is deleted', async () => {
    await kubectl('apply', '--server-side', '--force-conflicts', '-k', 'manifests/base');
    await assert.rejects(kubectl('delete', '-k', 'manifests/base'), /no-delete/);
    assert.ok(!(await isThere('/apis/apps/v1/namespaces/cozy-system/deployments/tenant-apiserver')));
    assert.equal((await get(kept)).metadata.deletionTimestamp, undefined);
    await kubectl('apply', '--server-side', '-k', 'manifests/namespaces');
  });

  it('go with all data as docs/install.md says', async () => {
    await follow('### Uninstall with all data');
    assert.ok(!(await isThere('/apis/apiextensions.k8s.io/v1/customresourcedefinitions/tenantrecords.records.cozystack.io')));
    assert.ok(!(await isThere('/api/v1/namespaces/tenant-root')));
  });
});
