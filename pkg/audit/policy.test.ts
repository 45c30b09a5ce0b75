import { describe, it } from 'mocha';
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { levels, stages, type Stage } from './event.ts';
import { policyEvaluator, type PolicyAttributes, type PolicyRule } from './policy.ts';

const nobody: PolicyAttributes = { verb: 'get', isResourceRequest: true, path: '/api/v1/namespaces/default/pods/p', namespace: 'default', apiGroup: '', resource: 'pods', subresource: '', name: 'p' };
const pod: PolicyAttributes = { ...nobody, user: { username: 'ada', groups: ['builders', 'system:authenticated'] } };
const log: PolicyAttributes = { ...pod, subresource: 'log' };
const scale: PolicyAttributes = { ...pod, apiGroup: 'apps', resource: 'deployments', subresource: 'scale', name: 'd' };
const node: PolicyAttributes = { ...pod, namespace: '', resource: 'nodes', name: 'n' };
const list: PolicyAttributes = { ...pod, verb: 'list', name: '' };
const metrics: PolicyAttributes = { ...pod, isResourceRequest: false, path: '/metrics', namespace: '', resource: '', name: '' };
const health: PolicyAttributes = { ...metrics, path: '/healthz/ping' };

describe('an audit policy', () => {
  for (const [name, rule, attributes, matches] of [
    ['no condition matches a resource', {}, pod, true],
    ['no condition matches a path', {}, metrics, true],
    ['no condition matches whom nobody knows', {}, nobody, true],
    ['empty lists are no conditions', { users: [], userGroups: [], verbs: [], resources: [], namespaces: [], nonResourceURLs: [] }, pod, true],

    ['the user', { users: ['ada'] }, pod, true],
    ['one of several users', { users: ['bob', 'ada'] }, pod, true],
    ['another user', { users: ['bob'] }, pod, false],
    ['a user in another case', { users: ['Ada'] }, pod, false],
    ['a user where nobody is known', { users: ['ada'] }, nobody, false],
    ['a star is no wildcard for users', { users: ['*'] }, pod, false],
    ['a group', { userGroups: ['builders'] }, pod, true],
    ['any of several groups', { userGroups: ['x', 'system:authenticated'] }, pod, true],
    ['another group', { userGroups: ['owners'] }, pod, false],
    ['a group where nobody is known', { userGroups: ['builders'] }, nobody, false],
    ['user and group', { users: ['ada'], userGroups: ['builders'] }, pod, true],
    ['the user but not the group', { users: ['ada'], userGroups: ['owners'] }, pod, false],
    ['the group but not the user', { users: ['bob'], userGroups: ['builders'] }, pod, false],

    ['the verb', { verbs: ['get'] }, pod, true],
    ['one of several verbs', { verbs: ['list', 'get'] }, pod, true],
    ['another verb', { verbs: ['list'] }, pod, false],
    ['a star is no wildcard for verbs', { verbs: ['*'] }, pod, false],
    ['the verb of a path', { verbs: ['get'] }, metrics, true],

    ['the namespace', { namespaces: ['default'] }, pod, true],
    ['another namespace', { namespaces: ['kube-system'] }, pod, false],
    ['the empty namespace for what is in none', { namespaces: [''] }, node, true],
    ['the empty namespace for what is in one', { namespaces: [''] }, pod, false],
    ['a namespace never matches a path', { namespaces: [''] }, metrics, false],
    ['a star is no wildcard for namespaces', { namespaces: ['*'] }, pod, false],

    ['a group of resources', { resources: [{ group: '' }] }, pod, true],
    ['no group is the core group', { resources: [{}] }, pod, true],
    ['no group is no other group', { resources: [{}] }, scale, false],
    ['another group of resources', { resources: [{ group: 'apps' }] }, pod, false],
    ['every group of resources', { resources: [{ group: '*' }] }, scale, true],
    ['every group, a resource', { resources: [{ group: '*', resources: ['deployments/scale'] }] }, scale, true],
    ['a whole group covers subresources', { resources: [{ group: 'apps' }] }, scale, true],
    ['a whole group never matches a path', { resources: [{ group: '' }] }, metrics, false],
    ['the resource', { resources: [{ resources: ['pods'] }] }, pod, true],
    ['another resource', { resources: [{ resources: ['services'] }] }, pod, false],
    ['a resource does not cover its subresources', { resources: [{ resources: ['pods'] }] }, log, false],
    ['a subresource', { resources: [{ resources: ['pods/log'] }] }, log, true],
    ['a subresource is not the resource', { resources: [{ resources: ['pods/log'] }] }, pod, false],
    ['another subresource', { resources: [{ resources: ['pods/exec'] }] }, log, false],
    ['a star covers resources', { resources: [{ resources: ['*'] }] }, pod, true],
    ['a star covers subresources', { resources: [{ resources: ['*'] }] }, log, true],
    ['all subresources of a resource', { resources: [{ resources: ['pods/*'] }] }, log, true],
    ['all subresources of a resource, and itself', { resources: [{ resources: ['pods/*'] }] }, pod, true],
    ['all subresources of another resource', { resources: [{ resources: ['services/*'] }] }, log, false],
    ['a subresource of every resource', { resources: [{ resources: ['*/log'] }] }, log, true],
    ['a subresource of every resource, which is another', { resources: [{ resources: ['*/scale'] }] }, log, false],
    ['a subresource of every resource is no resource', { resources: [{ resources: ['*/log'] }] }, pod, false],
    ['a subresource of every resource in a group', { resources: [{ group: 'apps', resources: ['*/scale'] }] }, scale, true],
    ['a star in the middle means nothing', { resources: [{ resources: ['po*'] }] }, pod, false],
    ['one of several resources', { resources: [{ resources: ['nodes', 'pods'] }] }, pod, true],
    ['one of several groups', { resources: [{ group: 'apps' }, { group: '', resources: ['pods'] }] }, pod, true],
    ['the name', { resources: [{ resources: ['pods'], resourceNames: ['p'] }] }, pod, true],
    ['another name', { resources: [{ resources: ['pods'], resourceNames: ['q'] }] }, pod, false],
    ['a name where there is none', { resources: [{ resources: ['pods'], resourceNames: ['p'] }] }, list, false],
    ['the empty name where there is none', { resources: [{ resources: ['pods'], resourceNames: [''] }] }, list, true],
    ['names without resources are passed over', { resources: [{ resourceNames: ['q'] }] }, pod, true],
    ['resource and namespace', { resources: [{ resources: ['pods'] }], namespaces: ['default'] }, pod, true],
    ['the resource in another namespace', { resources: [{ resources: ['pods'] }], namespaces: ['x'] }, pod, false],

    ['the path', { nonResourceURLs: ['/metrics'] }, metrics, true],
    ['another path', { nonResourceURLs: ['/metrics'] }, health, false],
    ['a path that goes on', { nonResourceURLs: ['/healthz*'] }, health, true],
    ['a path that goes on by a part', { nonResourceURLs: ['/healthz/*'] }, health, true],
    ['a path that goes on by nothing', { nonResourceURLs: ['/metrics*'] }, metrics, true],
    ['a part that would have to follow', { nonResourceURLs: ['/metrics/*'] }, metrics, false],
    ['every path', { nonResourceURLs: ['*'] }, metrics, true],
    ['every path is no resource', { nonResourceURLs: ['*'] }, pod, false],
    ['the path of a resource', { nonResourceURLs: [pod.path] }, pod, false],
    ['a path is whole', { nonResourceURLs: ['/metric'] }, metrics, false],
  ] as const satisfies readonly (readonly [string, Omit<PolicyRule, 'level'>, PolicyAttributes, boolean])[]) {
    it(`${name}: ${matches ? 'matches' : 'does not match'}`, () => {
      const evaluate = policyEvaluator({ rules: [{ level: 'Request', ...(rule as Omit<PolicyRule, 'level'>) }] });
      assert.equal(evaluate(attributes).level, matches ? 'Request' : 'None');
    });
  }

  it('goes by the first rule that matches', () => {
    const evaluate = policyEvaluator({ rules: [{ level: 'None', users: ['bob'] }, { level: 'Metadata', verbs: ['get'] }, { level: 'RequestResponse' }] });
    assert.equal(evaluate(pod).level, 'Metadata');
    assert.equal(evaluate(list).level, 'RequestResponse');
    assert.equal(evaluate({ ...pod, user: { username: 'bob', groups: [] } }).level, 'None');
  });

  it('leaves out the stages of the policy and of the rule', () => {
    const evaluate = policyEvaluator({ omitStages: ['RequestReceived'], rules: [{ level: 'Metadata', verbs: ['get'], omitStages: ['Panic', 'RequestReceived'] }, { level: 'Metadata' }] });
    assert.deepEqual([...evaluate(pod).omitStages], ['RequestReceived', 'Panic']);
    assert.deepEqual([...evaluate(list).omitStages], ['RequestReceived']);
  });

  for (const [ofPolicy, ofRule, omitted] of [
    [undefined, undefined, false],
    [true, undefined, true],
    [true, false, false],
    [false, true, true],
  ] as const) {
    it(`omits managed fields with ${ofPolicy} in the policy and ${ofRule} in the rule: ${omitted}`, () => {
      assert.equal(policyEvaluator({ omitManagedFields: ofPolicy, rules: [{ level: 'Request', omitManagedFields: ofRule }] })(pod).omitManagedFields, omitted);
    });
  }

  const anyRule = fc.record<PolicyRule>(
    {
      level: fc.constantFrom(...levels),
      users: fc.subarray(['ada', 'bob']),
      verbs: fc.subarray(['get', 'list']),
      namespaces: fc.subarray(['', 'default']),
      resources: fc.array(fc.record({ group: fc.constantFrom('', 'apps', '*'), resources: fc.subarray(['pods', '*', 'pods/*', '*/scale']) }), { maxLength: 2 }),
      omitStages: fc.subarray<Stage>([...stages]),
    },
    { requiredKeys: ['level'] },
  );
  const anyRequest = fc.constantFrom(pod, log, scale, node, list, metrics, health, nobody);

  it('is decided by rules before, whatever follows one that matches', () =>
    fc.assert(
      fc.property(fc.array(anyRule, { minLength: 1 }), fc.array(anyRule), anyRequest, (rules, later, request) => {
        const decided = policyEvaluator({ rules: [...rules, { level: 'Metadata' }] })(request);
        assert.deepEqual(policyEvaluator({ rules: [...rules, { level: 'Metadata' }, ...later] })(request), decided);
      }),
    ));

  it('matches less with one condition more', () =>
    fc.assert(
      fc.property(anyRule, anyRequest, (rule, request) => {
        const matchesRule = (one: PolicyRule): boolean => policyEvaluator({ rules: [{ ...one, level: 'Request' }] })(request).level === 'Request';
        if (matchesRule({ ...rule, userGroups: ['builders'] })) assert.ok(matchesRule(rule));
      }),
    ));
});
