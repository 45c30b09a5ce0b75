import { before, describe, it } from 'mocha';
import assert from 'node:assert/strict';
import type { Credentials } from '../../../hack/controlplane/request.ts';
import type { Event } from '../../../pkg/audit/event.ts';
import { KubeClient } from '../../../pkg/kube/client.ts';
import { loadRestConfig } from '../../../pkg/kube/config.ts';
import { kinds, sides, type Side } from '../../contract/sides.ts';
import { cases, type AuditCase, type User } from './cases.ts';
import { Pool } from '../../contract/pool.ts';
import { differences, normalisedEvents, withoutWritten } from './compare.ts';
import { auditWorld, namespaces, type AuditRequest, type AuditWorld } from './world.ts';

const { group, version, plural } = kinds.gateway;
/** Cases that may run while an earlier one is waited for. */
const ahead = 8;
const root = `/apis/${group}/${version}`;

describe('audit: events are those of the kube-apiserver', () => {
  let world: AuditWorld;
  let users: Record<User, Credentials>;

  before(async function () {
    this.timeout(180_000);
    world = await auditWorld();
    const { clientAuthority } = world.cluster.controlPlane;
    const user = (commonName: string): Promise<Credentials> => clientAuthority.issue({ commonName, usages: ['client'] });
    users = { ada: await user('ada'), nobody: await user('nobody'), imp: await user('imp'), conny: await user('conny'), stranger: { token: 'made-up' } };
  });

  const requestOf = ({ as, ...step }: AuditCase['steps'][number], namespace: string, name: string): AuditRequest => {
    const all = `${root}/namespaces/${namespace}/${plural}`;
    const names: Record<string, string> = { all, one: `${all}/${name}`, root: `${root}/${plural}`, namespace, name };
    const filled = JSON.parse(JSON.stringify(step).replaceAll(/\{(all|one|root|namespace|name)\}/g, (_, key: string) => names[key]!)) as AuditRequest;
    return { ...filled, ...(as && { as: users[as] }) };
  };

  const eventsOf = async (side: Side, { name: title, steps, last }: AuditCase, namespace: string, number: number): Promise<Event[]> => {
    const events: Event[] = [];
    for (const [index, step] of steps.entries()) {
      const auditId = `${namespace}-${number}-${index}`;
      await world.ask(side, auditId, requestOf(step, namespace, `g${number}`));
      events.push(...(await world.events(side, auditId, last).catch((error: unknown) => Promise.reject(new Error(`${title}, step ${index}`, { cause: error })))));
    }
    return events;
  };

  for (const namespace of namespaces) {
    describe(namespace, () => {
      const pool = new Pool(cases.map((one, number) => () => Promise.all(sides.map((side) => eventsOf(side, one, namespace, number)))), ahead);
      for (const [number, one] of cases.entries()) {
        it(one.name, async () => {
          const [ours, twin] = (await pool.result(number)) as [Event[], Event[]];
          assert.deepEqual(differences(normalisedEvents(withoutWritten(ours, twin)), normalisedEvents(twin)), []);
        });
      }
    });
  }

  // in a suite of its own: tests of the outer one would come first, and the last of these stops the server
  describe('and besides', () => {
    it('names what a write has made, which the kube-apiserver does not', async () => {
      const all = `${root}/namespaces/level-metadata/${plural}`;
      const body = { apiVersion: `${group}/${version}`, kind: kinds.gateway.kind, metadata: { generateName: 'drawn-' }, spec: { apex: 'example.org' } };
      const { uid, name } = (await world.ask('ours', 'written', { method: 'POST', path: all, body })).json<{ metadata: { uid: string; name: string } }>().metadata;
      const [event] = await world.events('ours', 'written');
      assert.deepEqual([event!.objectRef?.uid, event!.objectRef?.name], [uid, name]);
      await world.ask('ours', 'tried', { method: 'POST', path: `${all}?dryRun=All`, body });
      const [tried] = await world.events('ours', 'tried');
      assert.deepEqual([tried!.objectRef?.uid, tried!.objectRef?.name], [undefined, undefined], 'nothing has that uid');
    });

    it('share the id of the kube-apiserver that passes a request on, and its user as it was impersonated there', async () => {
      const { controlPlane } = world.cluster;
      // kept open: the front calls it a panic when a client hangs up in the instant in which it has the whole answer
      const client = new KubeClient(await loadRestConfig(controlPlane.kubeconfigPath), 'through-the-front');
      const { headers } = await client.request({ path: `${root}/namespaces/level-metadata/${plural}`, headers: { 'impersonate-user': 'ada' } });
      const auditId = String(headers['audit-id']).split(', ')[0]!; // each of the two servers says it
      const [[ours], [front]] = (await Promise.all([world.events('ours', auditId), world.events('twin', auditId)])) as [Event[], Event[]];
      client.close();
      assert.deepEqual([front!.impersonatedUser?.username, ours!.user.username, ours!.impersonatedUser], ['ada', 'ada', undefined]);
      assert.deepEqual([ours!.requestURI, ours!.verb, ours!.userAgent, ours!.objectRef, ours!.responseStatus], [front!.requestURI, front!.verb, 'through-the-front', front!.objectRef, front!.responseStatus]);
    });

    it('are not made where the policy wants none', async () => {
      const silent = await world.cluster.controlPlane.clientAuthority.issue({ commonName: 'silent', usages: ['client'] });
      await world.ask('ours', 'silent', { path: `${root}/${plural}`, as: silent });
      assert.deepEqual(await world.eventsOfNone('ours', 'silent'), []);
    });

    it('are counted', async () => {
      const { text } = await world.ask('ours', 'metrics', { path: '/metrics' });
      for (const metric of [/^apiserver_audit_event_total [1-9]/m, /^apiserver_audit_level_total\{level="RequestResponse"\} [1-9]/m, /^apiserver_audit_error_total\{plugin="log"\} 0$/m, /^apiserver_audit_requests_rejected_total 0$/m]) assert.match(text, metric);
    });

    it('are all written when the server stops', async () => {
      const auditIds = Array.from({ length: 20 }, (_, index) => `last-${index}`);
      await Promise.all(auditIds.map((auditId) => world.ask('ours', auditId, { path: '/version' })));
      await world.cluster.server.stop();
      for (const auditId of auditIds) assert.equal((await world.logs.ours.of(auditId)).at(-1)?.stage, 'ResponseComplete', auditId);
    });
  });
});
