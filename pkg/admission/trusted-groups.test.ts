import { describe, it } from 'mocha';
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { parseAllDocuments } from 'yaml';
import { defaultTrustedGroups } from './field-gate.ts';

const folder = path.resolve(import.meta.dirname, '../../manifests/policies');

interface Policy {
  kind: string;
  metadata: { name: string };
  spec: { variables?: { name: string; expression: string }[] };
}

/** The expressions of a variable, by the policy that has it. */
const expressionsOf = async (name: string): Promise<Map<string, string>> => {
  const texts = await Promise.all((await readdir(folder)).map((file) => readFile(path.join(folder, file), 'utf8')));
  const policies = texts.flatMap((text) => parseAllDocuments(text).map((document) => document.toJS() as Policy)).filter(({ kind }) => kind === 'ValidatingAdmissionPolicy');
  return new Map(policies.flatMap(({ metadata, spec }) => (spec.variables ?? []).filter((variable) => variable.name === name).map(({ expression }) => [metadata.name, expression] as const)));
};

describe('policies of the manifests', () => {
  it('trust the groups that the server trusts', async () => {
    const expressions = await expressionsOf('trusted');
    assert.deepEqual([...expressions.keys()], ['cozystack-namespace-host-label-policy']);
    for (const expression of expressions.values()) assert.deepEqual([...expression.matchAll(/'(system:[\w:-]+)'/g)].map(([, group]) => group), defaultTrustedGroups);
  });

  it("have one notion of a namespace's apex", async () => {
    const expressions = await expressionsOf('apex');
    assert.equal(expressions.size, 3);
    assert.equal(new Set(expressions.values()).size, 1);
  });
});
