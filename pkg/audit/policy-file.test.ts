import { describe, it } from 'mocha';
import assert from 'node:assert/strict';
import { loadPolicy, parsePolicy } from './policy-file.ts';

const head = 'apiVersion: audit.k8s.io/v1\nkind: Policy\n';
const withRule = (rule: string): string => `${head}rules:\n- ${rule}\n`;

describe('an audit policy file', () => {
  it('is read whole', () => {
    const text = `${head}metadata: { name: mine }
omitStages: [RequestReceived]
omitManagedFields: true
rules:
- level: RequestResponse
  users: [ada]
  userGroups: [builders]
  verbs: [create]
  resources: [{ group: apps, resources: [deployments, '*/scale'], resourceNames: [d] }, { group: '*' }]
  namespaces: ['', default]
  omitStages: [Panic]
  omitManagedFields: false
- { level: None, nonResourceURLs: ['/healthz*', '*'] }
`;
    const { rules, omitStages, omitManagedFields } = parsePolicy(text);
    assert.deepEqual({ omitStages, omitManagedFields, levels: rules.map(({ level }) => level) }, { omitStages: ['RequestReceived'], omitManagedFields: true, levels: ['RequestResponse', 'None'] });
    assert.deepEqual(rules[0]!.resources, [{ group: 'apps', resources: ['deployments', '*/scale'], resourceNames: ['d'] }, { group: '*' }]);
  });

  it('takes null for absence, and JSON', () => {
    assert.deepEqual(parsePolicy(withRule('{ level: Metadata, users: null, omitManagedFields: ~ }')).rules, [{ level: 'Metadata' }]);
    assert.deepEqual(parsePolicy('{"apiVersion":"audit.k8s.io/v1","kind":"Policy","rules":[{"level":"None"}]}').rules, [{ level: 'None' }]);
  });

  for (const [name, text, fault] of [
    ['nothing', '', /must be a mapping/],
    ['a list', '- 1', /must be a mapping/],
    ['no YAML', 'a: [', /Flow sequence/],
    ['a key twice', `${head}kind: Policy\nrules: [{ level: None }]`, /unique/],
    ['another version', 'apiVersion: audit.k8s.io/v1beta1\nkind: Policy\nrules: [{ level: None }]', /^apiVersion: must be audit\.k8s\.io\/v1$/],
    ['another kind', 'apiVersion: audit.k8s.io/v1\nkind: PolicyList\nrules: [{ level: None }]', /^kind: must be Policy$/],
    ['no rules', head, /^rules: at least one rule is required/],
    ['an empty list of rules', `${head}rules: []`, /^rules: at least one rule is required/],
    ['rules that are no list', `${head}rules: { level: None }`, /^rules: must be a list/],
    ['an unknown field', `${head}omitStage: []\nrules: [{ level: None }]`, /^omitStage: unknown field; known are .*omitStages/],
    ['an unknown field of a rule', withRule('{ level: None, user: [ada] }'), /^rules\[0\]\.user: unknown field; known are .*users/],
    ['an unknown field of resources', withRule('{ level: None, resources: [{ groups: apps }] }'), /^rules\[0\]\.resources\[0\]\.groups: unknown field/],
    ['a field that every object has', withRule('{ level: None, constructor: 1 }'), /^rules\[0\]\.constructor: unknown field/],
    ['a rule without level', withRule('{ users: [ada] }'), /^rules\[0\]\.level: is required: one of None, Metadata, Request, RequestResponse$/],
    ['an unknown level', withRule('{ level: request }'), /^rules\[0\]\.level: "request" is none of None, Metadata/],
    ['an unknown stage', withRule('{ level: None, omitStages: [Received] }'), /^rules\[0\]\.omitStages\[0\]: "Received" is none of RequestReceived/],
    ['an unknown stage of the policy', `${head}omitStages: [x]\nrules: [{ level: None }]`, /^omitStages\[0\]: "x" is none of/],
    ['a text for a list', withRule('{ level: None, users: ada }'), /^rules\[0\]\.users: must be a list$/],
    ['a number in a list', withRule('{ level: None, users: [1] }'), /^rules\[0\]\.users\[0\]: must be a text$/],
    ['a text for a flag', withRule("{ level: None, omitManagedFields: 'true' }"), /^rules\[0\]\.omitManagedFields: must be true or false$/],
    ['a rule that is no mapping', `${head}rules: [None]`, /^rules\[0\]: must be a mapping$/],
    ['a group with its version', withRule('{ level: None, resources: [{ group: apps/v1 }] }'), /^rules\[0\]\.resources\[0\]\.group: "apps\/v1" is no API group/],
    ['names without resources', withRule('{ level: None, resources: [{ group: apps, resourceNames: [d] }] }'), /^rules\[0\]\.resources\[0\]\.resourceNames: needs at least one of resources$/],
    ['a path without slash', withRule('{ level: None, nonResourceURLs: [healthz] }'), /^rules\[0\]\.nonResourceURLs\[0\]: "healthz" must begin with a slash$/],
    ['a star within a path', withRule("{ level: None, nonResourceURLs: ['/a/*/b'] }"), /a \* may only be the last character$/],
    ['paths and resources', withRule("{ level: None, nonResourceURLs: ['/a'], resources: [{ group: apps }] }"), /^rules\[0\]\.nonResourceURLs: a rule cannot be about both/],
    ['paths and namespaces', withRule("{ level: None, nonResourceURLs: ['/a'], namespaces: [a] }"), /^rules\[0\]\.nonResourceURLs: a rule cannot be about both/],
  ] as const) {
    it(`is refused with ${name}`, () => assert.throws(() => parsePolicy(text), (error: Error) => fault.test(error.message) || assert.fail(error.message)));
  }

  it('tells every fault', () => {
    assert.throws(() => parsePolicy(`${head}rules: [{ level: a }, { levl: None }]`), (error: Error) => {
      assert.deepEqual(error.message.split('\n').map((line) => line.split(':')[0]), ['rules[0].level', 'rules[1].levl', 'rules[1].level']);
      return true;
    });
  });

  it('names the file', () => assert.rejects(loadPolicy('/no/such/policy.yaml'), /^Error: audit policy file \/no\/such\/policy\.yaml: ENOENT/));
});
