import type { Response } from 'express';
import { describe, it } from 'mocha';
import assert from 'node:assert/strict';
import { tenants } from '../../../api/apps/v1alpha1/tenant.ts';
import type { KubeObject } from '../../../api/meta/v1/types.ts';
import { AdmissionChain } from '../../admission/chain.ts';
import { StatusError } from '../../kube/status-error.ts';
import type { ApplyOptions } from '../../storage/store.ts';
import { WatchCache } from '../../storage/watch-cache.ts';
import { contextOf } from '../context.ts';
import { applyPatch } from './patch-apply.ts';
import type { PatchInput } from './patch-json.ts';
import type { RequestScope } from './scope.ts';
import type { ParsedWriteOptions } from './write-options.ts';

const apiVersion = 'apps.cozystack.io/v1alpha1';

/** A store whose host gives back what was applied, as a dry run does. */
const inputOf = (body: string, options: Partial<ParsedWriteOptions> = {}, live?: KubeObject): PatchInput & { applied: { object: KubeObject; options: ApplyOptions }[] } => {
  const applied: { object: KubeObject; options: ApplyOptions }[] = [];
  const store = {
    cache: new WatchCache(),
    get: () => (live ? Promise.resolve(live) : Promise.reject(StatusError.notFound({ group: tenants.group, resource: tenants.plural }, 'acme'))),
    apply: (object: KubeObject, applyOptions: ApplyOptions) => {
      applied.push({ object, options: applyOptions });
      return Promise.resolve({ object, created: !live });
    },
  };
  const scope = {
    definition: tenants,
    kind: { group: tenants.group, version: tenants.version, kind: tenants.kind },
    store,
    admission: new AdmissionChain([]),
    authorizer: { authorize: () => Promise.resolve({ allowed: true, reason: '' }) },
  } as unknown as RequestScope;
  const requestInfo = { namespace: 'shop', name: 'acme', subresource: '' } as PatchInput['requestInfo'];
  const response = {} as Response;
  Object.assign(contextOf(response), { requestInfo, user: { username: 'ada', groups: [] } });
  const all: ParsedWriteOptions = { dryRun: false, fieldManager: 'ada', fieldValidation: 'Warn', force: false, ...options };
  return { scope, response, body: Buffer.from(body), options: all, requestInfo, signal: AbortSignal.timeout(1000), applied };
};

const manifest = `apiVersion: ${apiVersion}\nkind: Tenant\nmetadata:\n  name: acme\n`;
const twice = `${manifest}spec:\n  etcd: true\n  etcd: true\n`;

describe('server-side apply', () => {
  it('dry run of something new has no version', async () => {
    const { object } = await applyPatch(inputOf(manifest, { dryRun: true }));
    assert.equal(object.metadata.resourceVersion, undefined);
  });

  it('is bound to what admission saw: nothing, or the live version', async () => {
    const [fresh, known] = [inputOf(manifest), inputOf(manifest, {}, { apiVersion, kind: 'Tenant', metadata: { name: 'acme', namespace: 'shop', uid: 'u', resourceVersion: '7' } })];
    for (const input of [fresh, known]) await applyPatch(input);
    assert.deepEqual(fresh.applied.map(({ object, options }) => [object.metadata.resourceVersion, options.dryRun ?? false]), [['1', true], ['1', false]]);
    assert.deepEqual(known.applied.map(({ object, options }) => [object.metadata.resourceVersion, options.dryRun ?? false]), [['7', true], ['7', false]]);
    assert.deepEqual(known.applied.map(({ object }) => object.metadata.uid), ['u', 'u'], 'what is deleted meanwhile is not made anew');
  });

  for (const { name, body, options, message } of [
    { name: 'another kind', body: `apiVersion: ${apiVersion}\nkind: Other\n`, message: `invalid object type: ${apiVersion}, Kind=Other` },
    { name: 'nothing at all', body: '', message: 'invalid object type: /, Kind=' },
    { name: 'the core group', body: 'apiVersion: v1\nkind: Tenant\n', message: 'invalid object type: /v1, Kind=Tenant' },
    { name: 'a list', body: '- a\n', message: 'error decoding patch: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal array into Go value of type map[string]interface {}' },
    { name: 'a text for metadata', body: `${manifest}metadata: x\n`, message: 'error decoding patch: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal string into Go struct field .metadata of type v1.ObjectMeta' },
    { name: 'another name', body: `${manifest}metadata:\n  name: other\n`, message: 'the name of the object (other) does not match the name on the URL (acme)' },
    { name: 'a key twice, Strict', body: twice, options: { fieldValidation: 'Strict' as const }, message: 'error strict decoding patch: error converting YAML to JSON: yaml: unmarshal errors:\n  line 7: key "etcd" already set in map' },
  ]) it(`${name} is a bad request`, () => assert.rejects(applyPatch(inputOf(body, options)), { message }));

  it('a key twice is a warning, unless nobody wants to know', async () => {
    const [warned, ignored] = [inputOf(twice), inputOf(twice, { fieldValidation: 'Ignore' })];
    for (const input of [warned, ignored]) await applyPatch(input);
    assert.deepEqual([...contextOf(warned.response).warnings], ['line 7: key "etcd" already set in map']);
    assert.equal(contextOf(ignored.response).warnings.size, 0);
  });
});
