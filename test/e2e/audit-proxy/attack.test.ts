import assert from 'node:assert/strict';
import { before, describe, it } from 'mocha';
import type { KeyPair } from '../../../pkg/server/certificates.ts';
import { keyPairs } from '../../integration/attackers.ts';
import { attacks, secrets, type Attack, type Attacker } from '../../integration/attacks.ts';
import { ownCluster } from '../../integration/cluster.ts';
import { eventually } from '../../poll.ts';
import { Proxied } from './proxied.ts';

/** Whoever is not the front is nobody here, whatever it may be to the server; what is no request is refused as there. */
const expectedOf = ({ attacker, expected, noRequest }: Attack): Attack['expected'] => (attacker === 'front' || noRequest || expected === 'reset' ? expected : 401);

describe('attacks on audit-proxy', () => {
  let proxied: Proxied;
  let certificates: Record<Attacker, KeyPair | undefined>;

  before(async function () {
    this.timeout(300_000);
    const cluster = await ownCluster();
    proxied = await Proxied.beside(cluster);
    await proxied.start(['--log-level=debug']);
    certificates = await keyPairs(cluster.controlPlane);
  });

  /** Requests that were refused here or at the server, and connections that were ended. */
  const counted = async (): Promise<{ refused: number; ended: number }> => {
    const text = await proxied.metrics();
    const sum = (pattern: RegExp): number => [...text.matchAll(pattern)].reduce((total, [, value]) => total + Number(value), 0);
    return {
      refused: sum(/^audit_proxy_refused_requests_total\{.*\} (\d+)$/gm) + sum(/^audit_proxy_forwarded_requests_total\{.*code="4\d\d".*\} (\d+)$/gm),
      ended: sum(/^audit_proxy_connections_ended_total\{.*\} (\d+)$/gm),
    };
  };

  for (const [index, attack] of attacks.entries()) {
    const { name, attacker, user, noRequest, send } = attack;
    const expected = expectedOf(attack);
    it(`${name}: ${expected}`, async () => {
      const auditId = `attack-${index}`;
      const before = await counted();
      const outcome = await send({ host: '127.0.0.1', port: proxied.port }, certificates[attacker], auditId);
      if (outcome === 'reset') assert.equal(outcome, expected);
      else assert.equal(outcome.status, expected, outcome.body);
      if (user && expected === 403 && outcome !== 'reset') assert.ok(outcome.body.includes(`User \\"${user}\\"`), outcome.body);
      if (noRequest === 'uncounted') return;
      await eventually('it is counted', async () => {
        const { refused, ended } = await counted();
        return noRequest === 'ended' ? ended > before.ended : refused > before.refused;
      });
      if (expected === 401) await eventually('it is logged', async () => (await proxied.log()).includes(auditId));
    });
  }

  it('leave no secret in the log, and no event', async () => {
    const log = await proxied.log();
    for (const secret of secrets) assert.ok(!log.includes(secret));
    assert.deepEqual(await proxied.events(), []);
  });
});
