import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { before, describe, it } from 'mocha';
import type { ControlPlane } from '../../hack/controlplane/controlplane.ts';
import { call } from '../../hack/controlplane/request.ts';
import type { KeyPair } from '../../pkg/server/certificates.ts';
import { eventually } from '../poll.ts';
import { keyPairs } from './attackers.ts';
import { attacks, secrets, type Attacker } from './attacks.ts';
import { sharedCluster } from './cluster.ts';

describe('attacks on who is asking', () => {
  let address: { host: string; port: number };
  let controlPlane: ControlPlane;
  let certificates: Record<Attacker, KeyPair | undefined>;
  let logged: () => Promise<string>;

  before(async function () {
    this.timeout(20 * 60_000); // the components may have to be built
    const cluster = await sharedCluster();
    ({ controlPlane } = cluster);
    const { port } = await cluster.startReplica(['--run-loop=false', '--log-level=debug']);
    address = { host: '127.0.0.1', port };
    logged = () => readFile(path.join(controlPlane.directory, 'logs', `tenant-apiserver-${port}.log`), 'utf8');
    certificates = await keyPairs(controlPlane);
    const rbac = 'rbac.authorization.k8s.io';
    const rules = [{ apiGroups: [''], resources: ['users', 'groups'], verbs: ['impersonate'] }];
    for (const object of [
      { apiVersion: `${rbac}/v1`, kind: 'ClusterRole', metadata: { name: 'impersonator' }, rules },
      { apiVersion: `${rbac}/v1`, kind: 'ClusterRoleBinding', metadata: { name: 'impersonator' }, roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'impersonator' }, subjects: [{ apiGroup: rbac, kind: 'User', name: 'impersonator' }] },
    ]) {
      await cluster.kubectl.run(['create', '-f', '-'], { input: JSON.stringify(object) });
    }
    await eventually('the permission is known', async () => (await cluster.kubectl.try(['auth', 'can-i', 'impersonate', 'users', '--as=impersonator'])).code === 0);
  });

  /** How many requests were refused, and connections ended, by the server's own count. */
  const counted = async (): Promise<{ refused: number; ended: number }> => {
    const { text } = await call({ url: `https://127.0.0.1:${address.port}`, trustAnyServer: true, credentials: controlPlane.admin }, { path: '/metrics' });
    const sum = (pattern: RegExp): number => [...text.matchAll(pattern)].reduce((total, [, value]) => total + Number(value), 0);
    return { refused: sum(/^apiserver_request_total\{.*code="4\d\d".*\} (\d+)$/gm), ended: sum(/^tenant_apiserver_connections_ended_total\{.*\} (\d+)$/gm) };
  };

  for (const [index, { name, attacker, expected, user, noRequest, send }] of attacks.entries()) {
    it(`${name}: ${expected}`, async () => {
      const auditId = `attack-${index}`;
      const before = await counted();
      const outcome = await send(address, certificates[attacker], auditId);
      if (outcome === 'reset') assert.equal(outcome, expected);
      else assert.equal(outcome.status, expected, outcome.body);
      if (user && outcome !== 'reset') assert.ok(outcome.body.includes(`User \\"${user}\\"`), outcome.body);
      if (expected === 200 || noRequest === 'uncounted') return;
      await eventually('it is counted', async () => {
        const { refused, ended } = await counted();
        return noRequest === 'ended' ? ended > before.ended : refused > before.refused;
      });
      if (!noRequest) await eventually('it is logged', async () => (await logged()).includes(auditId));
    });
  }

  it('are many, and no secret of theirs is in the log', async () => {
    assert.ok(attacks.length >= 60);
    const log = await logged();
    for (const secret of secrets) assert.ok(!log.includes(secret));
  });
});
