import { before, describe, it } from 'mocha';
import assert from 'node:assert/strict';
import { eventually } from '../poll.ts';
import { makeNamespace } from './cluster.ts';
import { sharedTwin, type Twin } from './twin.ts';

const resource = 'tenants.apps.cozystack.io';
const manifest = (namespace: string, name: string): string => JSON.stringify({ apiVersion: 'apps.cozystack.io/v1alpha1', kind: 'Tenant', metadata: { namespace, name } });

describe('kubectl as somebody else', () => {
  let twin: Twin;
  let namespace: string;
  /** A user who may read, a group that may do all, and a user who may do all but create. */
  const [reader, editors, patcher] = ['ada', 'editors', 'bob'];

  before(async function () {
    this.timeout(120_000);
    twin = await sharedTwin();
    namespace = await makeNamespace(twin.cluster, 'access');
    await twin.make({ kind: 'Tenant', metadata: { namespace, name: 'live' } });
    for (const [role, verbs, subject] of [
      ['reader', 'get,list,watch', `--user=${reader}`],
      ['editor', '*', `--group=${editors}`],
      ['patcher', 'get,patch,update,delete', `--user=${patcher}`],
    ] as const) {
      await twin.sameOutput(['create', 'role', `${role}.${resource}`, `--verb=${verbs}`, `--resource=${resource}`, '-n', namespace]);
      await twin.sameOutput(['create', 'rolebinding', `${role}.${resource}`, `--role=${role}.${resource}`, subject, '-n', namespace]);
    }
    const may = async (args: string[]): Promise<boolean> => (await twin.both(['auth', 'can-i', 'patch', resource, '-n', namespace, ...args])).twin.code === 0;
    await eventually('the roles hold', async () => (await may(['--as', patcher])) && (await may(['--as', 'eve', '--as-group', editors])));
  });

  const asReader = ['--as', reader];
  const asEditor = ['--as', 'eve', '--as-group', editors];
  const asPatcher = ['--as', patcher];
  const asNobody = ['--as', 'nobody'];
  for (const { args, as, code, input } of [
    { args: ['get', resource], as: asReader, code: 0 },
    { args: ['get', resource, 'live', '-o', 'name'], as: asReader, code: 0 },
    { args: ['get', resource, '-A'], as: asReader, code: 1 },
    { args: ['get', resource], as: asNobody, code: 1 },
    { args: ['get', resource, 'live'], as: asNobody, code: 1 },
    { args: ['get', resource, 'missing'], as: asNobody, code: 1 },
    { args: ['get', resource, 'live', '--subresource=status'], as: asReader, code: 1 },
    { args: ['describe', resource, 'live'], as: asNobody, code: 1 },
    { args: ['create', '-f', '-'], as: asReader, code: 1, input: 'fresh' },
    { args: ['create', '-f', '-', '--dry-run=server'], as: asEditor, code: 0, input: 'fresh' },
    { args: ['create', '-f', '-', '--dry-run=server'], as: asPatcher, code: 1, input: 'fresh' },
    { args: ['apply', '-f', '-'], as: asReader, code: 1, input: 'live' },
    { args: ['apply', '-f', '-', '--server-side', '--dry-run=server'], as: asEditor, code: 0, input: 'fresh' },
    { args: ['apply', '-f', '-', '--server-side'], as: asPatcher, code: 1, input: 'fresh' },
    { args: ['apply', '-f', '-', '--server-side'], as: asNobody, code: 1, input: 'fresh' },
    { args: ['label', resource, 'live', 'a=b'], as: asReader, code: 1 },
    { args: ['label', resource, 'live', 'a=b'], as: asPatcher, code: 0 },
    { args: ['patch', resource, 'live', '--type=merge', '-p', '{}'], as: asReader, code: 1 },
    { args: ['patch', resource, 'live', '--subresource=status', '--type=merge', '-p', '{}'], as: asPatcher, code: 1 },
    { args: ['delete', resource, 'live'], as: asReader, code: 1 },
    { args: ['delete', resource, '--all'], as: asNobody, code: 1 },
    { args: ['auth', 'can-i', 'list', resource], as: asReader, code: 0 },
    { args: ['auth', 'can-i', 'delete', resource], as: asReader, code: 1 },
    { args: ['auth', 'can-i', 'create', resource], as: asEditor, code: 0 },
    { args: ['auth', 'can-i', 'patch', `${resource}/live`, '--subresource=status'], as: asPatcher, code: 1 },
    { args: ['auth', 'can-i', 'get', resource], as: [], code: 0 },
  ]) {
    it(`${[...args, input && `(${input})`, ...as].filter(Boolean).join(' ')}: ${code === 0 ? 'may' : 'may not'}`, async () => {
      const said = await twin.same([...args, ...as, ...(args.includes('-A') ? [] : ['-n', namespace])], input === undefined ? {} : { input: manifest(namespace, input) });
      assert.equal(said.code, code, said.stderr);
      if (code !== 0 && args[0] !== 'auth') assert.match(said.stderr, /forbidden: User "\w+" cannot \w+ resource "tenants/);
    });
  }

});
