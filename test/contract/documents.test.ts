import { before, describe, it } from 'mocha';
import assert from 'node:assert/strict';
import { Validator } from '@seriousme/openapi-schema-validator';
import type { Answer } from '../../hack/controlplane/request.ts';
import { apiVersionOf, type ResourceDefinition } from '../../api/resource.ts';
import { eventually } from '../poll.ts';
import { kinds, twinOf, withOurGroups } from './sides.ts';
import { contractWorld, type World } from './world.ts';

const aggregatedDiscovery = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

/** What must differ: names that begin with the reversed group, and hashes of it. */
const plain = (value: unknown): any =>
  JSON.parse(
    withOurGroups(JSON.stringify(value))
      .replaceAll('test.twinned.', 'io.cozystack.')
      .replaceAll('TwinnedTest', 'CozystackIo')
      .replaceAll(/,"storageVersionHash":"[^"]*"/g, '')
      .replaceAll(/\?hash=[0-9A-F]+/g, '?hash=…'),
  );

/** A kind's schema without what is said of the fields that all kinds have: that is in words of our own. */
const described = (schema: any): any => {
  const { apiVersion, kind, metadata, ...properties } = schema.properties;
  delete properties.spec?.properties?.embedded; // the documents do not spell out what an embedded object has; no kind of the product embeds one
  const silent = ({ description: _description, ...field }: any): any => field;
  return { ...schema, properties: { ...properties, apiVersion: silent(apiVersion), kind: silent(kind), metadata: silent(metadata) } };
};

/** The part of the merged document that is about our kinds: elsewhere a schema has a property named `$ref`, which validators take for one. */
const ofOurs = ({ paths, definitions, ...document }: any): object => {
  const groups = Object.values(kinds).map(({ group }) => group);
  const ourPaths = Object.fromEntries(Object.entries<any>(paths).filter(([path]) => groups.some((group) => path.startsWith(`/apis/${group}/`))));
  const reached = new Map<string, unknown>();
  const follow = (value: unknown): void => {
    for (const [, name = ''] of JSON.stringify(value).matchAll(/"#\/definitions\/([^"]+)"/g)) {
      if (reached.has(name)) continue;
      reached.set(name, definitions[name]);
      follow(definitions[name]);
    }
  };
  follow(ourPaths);
  return { ...document, paths: ourPaths, definitions: Object.fromEntries(reached) };
};

describe('documents of our kinds are those of custom resources', () => {
  let world: World;
  const get = (path: string, headers: Record<string, string> = {}): Promise<Answer> => world.cluster.controlPlane.request({ path, headers });
  const both = async (pathOf: (definition: ResourceDefinition) => string, definition: ResourceDefinition): Promise<[any, any]> => {
    const [ours, twin] = await Promise.all([definition, twinOf(definition)].map((side) => get(pathOf(side))));
    assert.deepEqual([ours!.status, twin!.status], [200, 200]);
    return [plain(ours!.json()), plain(twin!.json())];
  };
  const v3Path = (definition: ResourceDefinition): string => `/openapi/v3/apis/${apiVersionOf(definition)}`;

  before(async function () {
    this.timeout(180_000);
    world = await contractWorld();
    for (const definition of Object.values(kinds)) {
      for (const side of [definition, twinOf(definition)]) await eventually(`${side.group} has an OpenAPI document`, async () => (await get(v3Path(side))).text.includes(`.${side.kind}"`));
    }
  });

  for (const [kind, definition] of Object.entries(kinds)) {
    it(`${kind}: the group`, async () => {
      const [ours, twin] = await both(({ group }) => `/apis/${group}`, definition);
      assert.deepEqual(ours, twin);
    });

    it(`${kind}: the version's resources`, async () => {
      const [ours, twin] = await both((side) => `/apis/${apiVersionOf(side)}`, definition);
      const sorted = (list: any): any => ({ ...list, resources: list.resources.toSorted((a: any, b: any) => (a.name < b.name ? -1 : 1)) });
      assert.deepEqual(sorted(ours), sorted(twin));
    });

    it(`${kind}: aggregated discovery`, async () => {
      const entries = await eventually('discovery has both', async () => {
        const { items } = (await get('/apis', { accept: aggregatedDiscovery })).json<{ items: { metadata: { name: string } }[] }>();
        const found = [definition, twinOf(definition)].map(({ group }) => items.find(({ metadata }) => metadata.name === group));
        return found.every((entry: any) => entry?.versions?.[0]?.freshness === 'Current') && found;
      });
      const [ours, twin] = entries.map((entry) => {
        const { metadata: { creationTimestamp: _since, ...metadata }, ...rest } = plain(entry);
        return { ...rest, metadata };
      });
      assert.deepEqual(ours, twin);
    });

    it(`${kind}: OpenAPI v3 is valid`, async () => {
      const { valid, errors } = await new Validator().validate((await get(v3Path(definition))).json());
      assert.ok(valid, JSON.stringify(errors));
    });

    it(`${kind}: OpenAPI v3 has the same paths, operations and parameters`, async () => {
      const [ours, twin] = await both(v3Path, definition);
      const shape = ({ paths }: any): object =>
        Object.fromEntries(
          Object.entries<any>(paths)
            .filter(([path]) => path.includes(definition.plural) && !path.includes('/watch/'))
            .map(([path, item]) => [path, Object.fromEntries(['get', 'put', 'post', 'patch', 'delete'].flatMap((method) => (item[method] ? [[method, { kind: item[method]['x-kubernetes-group-version-kind'], action: item[method]['x-kubernetes-action'], id: item[method].operationId }]] : [])))]),
        );
      assert.deepEqual(shape(ours), shape(twin));
    });

    it(`${kind}: OpenAPI v3 describes the same fields`, async () => {
      const [ours, twin] = await both(v3Path, definition);
      const schema = (document: any): unknown => described(Object.entries<any>(document.components.schemas).find(([name]) => name.endsWith(`.${definition.kind}`))?.[1]);
      assert.deepEqual(schema(ours), schema(twin));
    });

    it(`${kind}: OpenAPI v3 is kept by its hash`, async () => {
      const index = (await get('/openapi/v3')).json<{ paths: Record<string, { serverRelativeURL: string }> }>();
      const url = index.paths[`apis/${apiVersionOf(definition)}`]!.serverRelativeURL;
      const hashed = await get(url);
      assert.equal(hashed.status, 200);
      assert.match(String(hashed.headers['cache-control']), /public/);
      assert.equal((await get(url, { 'if-none-match': String(hashed.headers.etag) })).status, 304);
    });
  }

  it('aggregated discovery is answered with 304 to whom has it', async () => {
    const answer = await get('/apis', { accept: aggregatedDiscovery });
    assert.equal((await get('/apis', { accept: aggregatedDiscovery, 'if-none-match': String(answer.headers.etag) })).status, 304);
  });

  it("OpenAPI v2, merged into the kube-apiserver's own, is valid, and describes the kinds as the twins", async () => {
    const document = await eventually('v2 has all kinds', async () => {
      const { text } = await get('/openapi/v2');
      return Object.values(kinds).every(({ group, kind }) => text.includes(`"group":"${group}","kind":"${kind}"`) && text.includes(`"group":"${twinOf(kinds.tenant).group}"`)) && (JSON.parse(text) as any);
    });
    const result = await new Validator().validate(ofOurs(document) as Record<string, unknown>);
    assert.ok(result.valid, JSON.stringify(result));
    for (const definition of Object.values(kinds)) {
      const schemaOf = ({ group, kind }: ResourceDefinition): any =>
        Object.values<any>(document.definitions).find((schema) => schema['x-kubernetes-group-version-kind']?.some((gvk: any) => gvk.group === group && gvk.kind === kind));
      assert.deepEqual(described(plain(schemaOf(definition))), described(plain(schemaOf(twinOf(definition)))));
    }
  });
});
