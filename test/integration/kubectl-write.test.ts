import { before, describe, it } from 'mocha';
import assert from 'node:assert/strict';
import { makeNamespace } from './cluster.ts';
import { sharedTwin, type Twin } from './twin.ts';

const kinds = [
  { resource: 'tenants.apps.cozystack.io', apiVersion: 'apps.cozystack.io/v1alpha1', kind: 'Tenant', spec: { schedulingClass: 'one' }, other: { schedulingClass: 'two' }, field: 'schedulingClass' },
  { resource: 'tenantgateways.gateway.cozystack.io', apiVersion: 'gateway.cozystack.io/v1alpha1', kind: 'TenantGateway', spec: { apex: 'one.example.org' }, other: { apex: 'two.example.org' }, field: 'apex' },
];

for (const { resource, apiVersion, kind, spec, other, field } of kinds) {
  describe(`kubectl writes ${resource}`, () => {
    let twin: Twin;
    let namespace: string;
    const manifest = (name: string, part: object = { spec }, metadata: object = {}): { input: string } => ({
      input: JSON.stringify({ apiVersion, kind, metadata: { namespace, name, ...metadata }, ...part }),
    });
    const run = (...args: string[]): Promise<string> => twin.sameOutput([...args, '-n', namespace]);
    const refused = async (args: string[], message: RegExp, options = {}): Promise<void> => {
      const { code, stderr } = await twin.same([...args, '-n', namespace], options);
      assert.notEqual(code, 0);
      assert.match(stderr, message);
    };
    const valueOf = (name: string): Promise<string> => run('get', resource, name, '-o', `jsonpath={.spec.${field}}`);
    const [one, two] = [Object.values(spec)[0] as string, Object.values(other)[0] as string];
    const stored = async (name: string): Promise<boolean> => (await twin.same(['get', resource, name, '-n', namespace])).code === 0;

    before(async function () {
      this.timeout(120_000);
      twin = await sharedTwin();
      namespace = await makeNamespace(twin.cluster, 'write');
      await twin.make({ kind, metadata: { namespace, name: 'live', labels: { app: 'a' } }, spec });
    });

    it('create, and create again', async () => {
      assert.match(await twin.sameOutput(['create', '-f', '-'], manifest('created')), / created$/m);
      await refused(['create', '-f', '-'], /AlreadyExists/, manifest('created'));
    });

    it('create draws a name', async () => {
      const printed = await twin.cluster.kubectl.run(['create', '-f', '-', '-o', 'name'], manifest('', { spec }, { name: undefined, generateName: 'drawn' }));
      assert.match(printed, /\/drawn[bcdfghjklmnpqrstvwxz2456789]{5}\n$/);
      await twin.cluster.kubectl.run(['delete', printed.trim(), '-n', namespace]);
    });

    it('a dry run says what would be, and stores nothing', async () => {
      await twin.sameOutput(['create', '-f', '-', '--dry-run=server'], manifest('unborn'));
      await twin.sameOutput(['create', '-f', '-', '--dry-run=server', '-o', 'yaml'], manifest('unborn'));
      await twin.sameOutput(['apply', '-f', '-', '--dry-run=server'], manifest('unborn'));
      await twin.sameOutput(['apply', '-f', '-', '--server-side', '--dry-run=server', '-o', 'yaml'], manifest('unborn'));
      assert.equal(await stored('unborn'), false);
      await run('patch', resource, 'live', '--type=merge', '--dry-run=server', '-p', JSON.stringify({ spec: other }));
      await run('label', resource, 'live', '--dry-run=server', 'dry=run');
      assert.equal(await valueOf('live'), one);
      await run('delete', resource, 'live', '--dry-run=server');
      await run('delete', resource, '--all', '--dry-run=server');
      await run('delete', resource, '-l', 'app=a', '--dry-run=server', '-o', 'name');
      assert.equal(await stored('live'), true);
    });

    it('client-side apply creates, says when nothing changed, and configures', async () => {
      assert.match(await twin.sameOutput(['apply', '-f', '-'], manifest('applied')), / created$/m);
      assert.match(await twin.sameOutput(['apply', '-f', '-'], manifest('applied')), / unchanged$/m);
      assert.match(await twin.sameOutput(['apply', '-f', '-'], manifest('applied', { spec: other })), / configured$/m);
      assert.equal(await valueOf('applied'), two);
      await run('apply', 'view-last-applied', resource, 'applied');
    });

    it('server-side apply refuses to take a field from another manager, unless it is forced', async () => {
      const apply = (manager: string, ...more: string[]): string[] => ['apply', '--server-side', '-f', '-', '--field-manager', manager, ...more];
      assert.match(await twin.sameOutput(apply('first'), manifest('owned')), / serverside-applied$/m);
      await refused(apply('second'), new RegExp(`conflict with "first"[^]*\\.spec\\.${field}`), manifest('owned', { spec: other }));
      assert.equal(await valueOf('owned'), one);
      await twin.sameOutput(apply('second', '--force-conflicts'), manifest('owned', { spec: other }));
      assert.equal(await valueOf('owned'), two);
      const managed = ['get', resource, 'owned', '--show-managed-fields', '-o', 'json', '-n', namespace];
      const { metadata } = JSON.parse((await twin.both(managed)).ours.stdout) as { metadata: { managedFields: { manager: string; operation: string; fieldsV1: object }[] } };
      const owners = metadata.managedFields.filter(({ operation, fieldsV1 }) => operation === 'Apply' && 'f:spec' in fieldsV1);
      assert.deepEqual(owners.map(({ manager }) => manager), ['second']);
    });

    it('diff shows what an apply would change', async () => {
      const environment = { KUBECTL_EXTERNAL_DIFF: 'diff -U0 -N' };
      const lines = ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }): object => ({ code, stderr, lines: stdout.split('\n').filter((line) => !line.startsWith('@@')) });
      for (const side of ['--server-side=false', '--server-side']) {
        const { ours, twin: theirs } = await twin.both(['diff', '-f', '-', side, '--force-conflicts=' + String(side === '--server-side')], { ...manifest('live', { spec: other }), environment });
        assert.deepEqual(lines(ours), lines(theirs));
        assert.equal(ours.code, 1, ours.stderr);
        assert.match(ours.stdout, new RegExp(`^\\+ +${field}: ${two}$`, 'm'));
      }
      const { code } = await twin.same(['diff', '-f', '-'], { ...manifest('live', { spec }, { labels: { app: 'a' } }), environment });
      assert.ok(code <= 1);
    });

    it('edit writes what the editor leaves', async () => {
      const edit = async (script: string): Promise<string> => twin.sameOutput(['edit', resource, 'live', '-n', namespace], { environment: { KUBE_EDITOR: script } });
      assert.match(await edit(`sed -i -e 's/${field}: ${one}/${field}: edited.example.org/'`), / edited$/m);
      assert.equal(await valueOf('live'), 'edited.example.org');
      await twin.mirror(resource, namespace, 'live');
      await twin.same(['edit', resource, 'live', '-n', namespace], { environment: { KUBE_EDITOR: 'true' } });
      await run('patch', resource, 'live', '--type=merge', '-p', JSON.stringify({ spec }));
    });

    it('replace writes the whole, and not upon an outdated version', async () => {
      const text = await twin.cluster.kubectl.run(['get', resource, 'live', '-n', namespace, '-o', 'json']);
      assert.match(await twin.sameOutput(['replace', '-f', '-'], manifest('live', { spec: other }, { labels: { app: 'a' } })), / replaced$/m);
      assert.equal(await valueOf('live'), two);
      const stale = await twin.cluster.kubectl.try(['replace', '-f', '-'], { input: text });
      assert.equal(stale.code, 1);
      assert.match(stale.stderr, /Conflict/);
      await refused(['replace', '-f', '-'], /NotFound/, manifest('missing'));
      await run('patch', resource, 'live', '--type=merge', '-p', JSON.stringify({ spec }));
    });

    it('a replaced object keeps our finalizer, though the manifest does not name it', async () => {
      const of = async (): Promise<string> => twin.cluster.kubectl.run(['get', resource, 'live', '-n', namespace, '-o', 'jsonpath={.metadata.finalizers}']);
      const had = await of();
      await twin.sameOutput(['replace', '-f', '-'], manifest('live', { spec }, { labels: { app: 'a' } }));
      assert.equal(await of(), had);
    });

    for (const { name, args, message } of [
      { name: 'a merge patch', args: ['--type=merge', '-p', '{"metadata":{"labels":{"patched":"merge"}}}'] },
      { name: 'the same again changes nothing', args: ['--type=merge', '-p', '{"metadata":{"labels":{"patched":"merge"}}}'] },
      { name: 'a JSON patch', args: ['--type=json', '-p', '[{"op":"test","path":"/metadata/labels/patched","value":"merge"},{"op":"replace","path":"/metadata/labels/patched","value":"json"}]'] },
      { name: 'a JSON patch whose test fails', args: ['--type=json', '-p', '[{"op":"test","path":"/metadata/name","value":"x"}]'], message: /the server rejected our request/ },
      { name: 'a strategic merge patch', args: ['--type=strategic', '-p', '{"metadata":{"labels":{"patched":"no"}}}'], message: /unknown format - accepted media types/ },
      { name: 'a merge patch of a wrong type', args: ['--type=merge', '-p', '{"spec":7}'], message: /is invalid/ },
      { name: 'a status patch', args: ['--subresource=status', '--type=merge', '-p', '{"status":{"conditions":[{"type":"Test","status":"True","reason":"Test","message":"","lastTransitionTime":"2026-01-02T03:04:05Z"}]}}'] },
      { name: 'a status patch that lacks fields', args: ['--subresource=status', '--type=merge', '-p', '{"status":{"conditions":[{"type":"Test"}]}}'], message: /status\.conditions\[0\]\.status: Required value/ },
      { name: 'a spec through the status', args: ['--subresource=status', '--type=merge', '-p', JSON.stringify({ spec: other })] },
    ]) {
      it(`patch: ${name}`, async () => {
        if (message) await refused(['patch', resource, 'live', ...args], message);
        else await run('patch', resource, 'live', ...args);
        assert.equal(await valueOf('live'), one);
      });
    }

    for (const { args, message } of [
      { args: ['label', resource, 'live', 'color=red'] },
      { args: ['label', resource, 'live', 'color=blue'], message: /already has a value/ },
      { args: ['label', resource, 'live', 'color=blue', '--overwrite'] },
      { args: ['label', resource, '--all', 'everywhere=1'] },
      { args: ['label', resource, 'live', 'color-'] },
      { args: ['label', resource, 'live', 'a b=c'], message: /invalid/i },
      { args: ['annotate', resource, 'live', 'note=a note', '--overwrite'] },
      { args: ['annotate', resource, 'live', 'note-'] },
      { args: ['annotate', resource, 'missing', 'note=x'], message: /NotFound/ },
    ] as { args: string[]; message?: RegExp }[]) {
      it([args[0], ...args.slice(2)].join(' '), () => (message ? refused(args, message) : run(...args)));
    }

    it('strict validation refuses an unknown field, warnings tell of it', async () => {
      const wrong = manifest('unknown', { spec: { ...spec, nope: 1 } });
      await refused(['create', '-f', '-', '--validate=strict'], /strict decoding error: unknown field "spec\.nope"/, wrong);
      assert.equal(await stored('unknown'), false);
      const warned = await twin.same(['create', '-f', '-', '--validate=warn'], wrong);
      assert.match(warned.stderr, /Warning: unknown field "spec\.nope"/);
      assert.equal((await twin.same(['create', '-f', '-', '--validate=ignore'], manifest('unknown2', { spec: { ...spec, nope: 1 } }))).stderr, '');
    });
  });
}
