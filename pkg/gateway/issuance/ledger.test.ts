import assert from 'node:assert/strict';
import { describe, it } from 'mocha';
import type { KubeObject } from '../../../api/meta/v1/types.ts';
import type { KubeRequest } from '../../kube/client.ts';
import { StatusError } from '../../kube/status-error.ts';
import { configMapLedger, type Entry } from './ledger.ts';
import { setOf } from './names.ts';

const start = Date.UTC(2026, 11, 1);
const entry = (host: string, at: number): Entry => ({ at, issuer: 'small', gateway: 'tenant-acme/cozystack', certificate: `${host}-tls`, domains: ['example.org'], set: setOf([host]) });

/** ConfigMaps as the kube-apiserver keeps them, as far as a ledger asks. */
const configMaps = () => {
  const objects = new Map<string, Record<string, string>>();
  const methods: string[] = [];
  const json = <T>({ method = 'GET', path, body }: KubeRequest): Promise<T> => {
    const name = path.slice('/api/v1/namespaces/cozy-system/configmaps/'.length);
    const given = body as KubeObject & { data: Record<string, string | null> };
    if (method !== 'GET') methods.push(method);
    if (method === 'POST') objects.set(given.metadata.name!, given.data as Record<string, string>);
    else if (!objects.has(name)) return Promise.reject(StatusError.notFound({ group: '', resource: 'configmaps' }, name));
    if (method === 'PATCH') objects.set(name, Object.fromEntries(Object.entries({ ...objects.get(name), ...given.data }).filter(([, value]) => value !== null)) as Record<string, string>);
    return Promise.resolve({ data: objects.get(name) } as T);
  };
  return { objects, methods, ledger: () => configMapLedger({ json }, 'cozy-system') };
};

describe('the ledger of what was ordered', () => {
  const hosts = Array.from({ length: 40 }, (_, index) => `h${index}.example.org`);
  const byCertificate = (entries: readonly Entry[]): Entry[] => entries.toSorted((a, b) => (a.certificate < b.certificate ? -1 : 1));

  it('has what was written, for the next one to read', async () => {
    const maps = configMaps();
    const entries = [...hosts.map((host) => entry(host, start)), { ...entry('r.example.org', start + 1), renewal: true }];
    await maps.ledger().add(entries, 0);
    assert.deepEqual(byCertificate(await maps.ledger().read()), byCertificate(entries));
  });

  it('takes one write for one order, and makes a ConfigMap where there is none', async () => {
    const { ledger, methods } = configMaps();
    const kept = ledger();
    await kept.add([entry('a.example.org', start)], 0);
    await kept.add([entry('a.example.org', start + 1)], 0);
    assert.deepEqual(methods, ['PATCH', 'POST', 'PATCH']);
    assert.equal((await kept.read()).length, 2);
  });

  it('does not grow for ever: with each write goes what no longer counts', async () => {
    const maps = configMaps();
    for (let week = 0; week < 5; week += 1) await maps.ledger().add([entry('a.example.org', start + week)], 0); // nobody has read it
    const ledger = maps.ledger();
    await ledger.read();
    await ledger.add([entry('a.example.org', start + 9)], start + 3);
    assert.deepEqual((await ledger.read()).map(({ at }) => at - start), [4, 9]);
  });

  it('does without what somebody wrote into it that is no entry, and drops it', async () => {
    const { objects, ledger } = configMaps();
    const kept = ledger();
    await kept.add([entry('a.example.org', start)], 0);
    const [[name, data]] = [...objects] as [[string, Record<string, string>]];
    for (const [index, text] of ['', '{', '[]', 'null', '{"at":"never","domains":[]}', '{"at":"2026-12-01T00:00:00Z","domains":[1]}'].entries()) data[`x${index}`] = text;
    objects.set(name, data);
    assert.equal((await kept.read()).length, 1);
    await kept.add([entry('a.example.org', start + 1)], 0);
    assert.deepEqual(Object.keys(objects.get(name)!).filter((key) => key.startsWith('x')), []);
  });

  it('is not believed to be empty during an outage', async () => {
    const ledger = configMapLedger({ json: () => Promise.reject(new StatusError(503, 'ServiceUnavailable', 'no')) }, 'cozy-system');
    await assert.rejects(ledger.read());
    await assert.rejects(ledger.add([entry('a.example.org', start)], 0));
  });
});
