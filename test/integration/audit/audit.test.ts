import { before, describe, it } from 'mocha';
import assert from 'node:assert/strict';
import type { Credentials } from '../../../hack/controlplane/request.ts';
import type { Event } from '../../../pkg/audit/event.ts';
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
});
