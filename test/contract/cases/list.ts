import type { Case } from '../case.ts';
import { bare, create, createNamed, get, merge, remove, several, tenantFinalizer } from './build.ts';

const versions: readonly [string, string][] = [
  ['none', ''],
  ['0', 'resourceVersion=0'],
  ['one of the past', 'resourceVersion=<1.metadata.resourceVersion>'],
  ['the newest', 'resourceVersion=<3.metadata.resourceVersion>'],
  ['one that is none', 'resourceVersion=x'],
  ['one that is compacted', 'resourceVersion=1'],
];
const matches = ['', 'resourceVersionMatch=Exact', 'resourceVersionMatch=NotOlderThan', 'resourceVersionMatch=Nearly'];
const limits = ['', 'limit=2'];

const query = (...parts: string[]): string => {
  const given = parts.filter(Boolean);
  return given.length > 0 ? `?${given.join('&')}` : '';
};

const selectors: readonly [string, string][] = [
  ['an equality', 'labelSelector=odd%3Dyes'],
  ['an inequality', 'labelSelector=odd!%3Dyes'],
  ['a presence', 'labelSelector=odd'],
  ['an absence', 'labelSelector=!odd'],
  ['a set', 'labelSelector=odd%20in%20(yes,no)'],
  ['a negated set', 'labelSelector=odd%20notin%20(yes)'],
  ['several terms', 'labelSelector=odd,odd!%3Dno'],
  ['a comparison', 'labelSelector=odd%3E1'],
  ['a bad comparison', 'labelSelector=odd%3Ex'],
  ['an empty one', 'labelSelector='],
  ['a bad one', 'labelSelector=%3D%3D%3D'],
  ['a bad key', 'labelSelector=a%20b%3Dc'],
  ['a bad value', 'labelSelector=a%3D-'],
  ['a name', 'fieldSelector=metadata.name%3D<name>b'],
  ['a name of nothing', 'fieldSelector=metadata.name%3Dnothing'],
  ['all names but one', 'fieldSelector=metadata.name!%3D<name>b'],
  ['a namespace', 'fieldSelector=metadata.namespace%3D<namespace>'],
  ['another namespace', 'fieldSelector=metadata.namespace%3Ddefault'],
  ['a name and a namespace', 'fieldSelector=metadata.name%3D<name>b,metadata.namespace%3D<namespace>'],
  ['two names', 'fieldSelector=metadata.name%3D<name>b,metadata.name%3D<name>c'],
  ['a field that is not declared', 'fieldSelector=spec.apex%3Dexample.org'],
  ['a label that is no field', 'fieldSelector=metadata.labels%3Da'],
  ['a field without value', 'fieldSelector=metadata.name'],
  ['an escaped value', 'fieldSelector=metadata.name%3Da%5C%2Cb'],
  ['a bad escape', 'fieldSelector=metadata.name%3Da%5Cb'],
  ['both', 'labelSelector=odd%3Dyes&fieldSelector=metadata.name%3D<name>b'],
];

const oddities: readonly string[] = ['limit=x', 'limit=-1', 'limit=0', 'limit=99999999999999999999', 'timeoutSeconds=x', 'timeoutSeconds=5', 'timeoutSeconds=-1', 'continue=x', 'continue=', 'sendInitialEvents=true', 'sendInitialEvents=false', 'allowWatchBookmarks=true', 'watch=false', 'watch=0', 'pretty=true', 'limit=2&pretty=true'];

const fields: readonly [string, string][] = [
  ['a text', 'spec.text%3Dab'],
  ['an enumeration', 'spec.choice%3Dtwo'],
  ['the default of an enumeration', 'spec.choice%3Done'],
  ['a number', 'spec.level%3D4'],
  ['what is not set', 'spec.text%3D'],
  ['all but one', 'spec.text!%3Dab'],
  ['two fields', 'spec.choice%3Done,spec.level%3D4'],
  ['a field and a name', 'spec.choice%3Done,metadata.name%3D<name>b'],
  ['a field that is not declared', 'spec.port%3D4'],
  ['a field with a dot before it', '.spec.text%3Dab'],
];
const gadgetsOf = [createNamed('a', {}, { spec: { text: 'ab' } }), createNamed('b', {}, { spec: { level: 4 } }), createNamed('c', {}, { spec: { text: 'cd', choice: 'two' } })];

const token = (value: unknown): string => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
const tokens: readonly [string, string][] = [
  ['of one character', 'x'],
  ['of foreign characters', 'a+b/c'],
  ['with padding', `${token({ v: 'meta.k8s.io/v1', rv: 5, start: 'a' })}=`],
  ['of broken JSON', token('{')],
  ['of a list', token([])],
  ['of nothing', token({})],
  ['of another version', token({ v: 'v9', rv: 5, start: 'a' })],
  ['without start', token({ v: 'meta.k8s.io/v1', rv: 5 })],
  ['without version', token({ v: 'meta.k8s.io/v1', start: 'a' })],
  ['that leads out', token({ v: 'meta.k8s.io/v1', rv: 5, start: '../a' })],
  ['that leads nowhere', token({ v: 'meta.k8s.io/v1', rv: 5, start: 'a//b' })],
  ['of a text for a version', token({ v: 'meta.k8s.io/v1', rv: 'x', start: 'a' })],
  ['of a compacted version', token({ v: 'meta.k8s.io/v1', rv: 1, start: 'a' })],
  ['of a version to come', token({ v: 'meta.k8s.io/v1', rv: 9_999_999, start: 'a' })],
  ['that goes on at the newest version', token({ v: 'meta.k8s.io/v1', rv: -1, start: '/b' })],
];

export const lists: readonly Case[] = [
  { name: 'list: nothing', alone: true, steps: [get('<all>')] },
  { name: 'list: over all namespaces', alone: true, steps: [createNamed('a', { labels: { only: '<namespace>' } }), get('<every>?labelSelector=only%3D<namespace>')] },
  ...['', ',metadata.namespace%3D<namespace>', ',metadata.namespace%3Ddefault'].map(
    (place): Case => ({ name: `list: by name${place && ' and place'}, over all namespaces (${place})`, alone: true, steps: [...several(2), get(`<every>?fieldSelector=metadata.name%3D<name>b${place}`)] }),
  ),
  { name: 'list: a Tenant by name, over all namespaces', kind: 'tenant', alone: true, steps: [create(bare({}, { finalizers: [tenantFinalizer] })), get('<every>?fieldSelector=metadata.name%3D<name>&labelSelector=no%3Done')] },
  { name: 'list: Tenants', kind: 'tenant', alone: true, steps: [create(bare()), get('<all>')] },
  ...versions.flatMap(([version, ofVersion]) =>
    matches.flatMap((match) =>
      limits.map((limit): Case => ({ name: `list: version ${version}, ${match || 'no match'}, ${limit || 'no limit'}`, alone: true, steps: [...several(4), get('<all>'), get(`<all>${query(ofVersion, match, limit)}`)] })),
    ),
  ),
  ...selectors.map(([what, selector]): Case => ({ name: `list: selected by ${what}`, alone: true, steps: [...several(4), get(`<all>?${selector}`)] })),
  ...selectors.slice(0, 3).map(([what, selector]): Case => ({ name: `list: a page selected by ${what}`, alone: true, steps: [...several(5), get(`<all>?limit=1&${selector}`)] })),
  ...oddities.map((option): Case => ({ name: `list: option ${option}`, alone: true, steps: [...several(3), get(`<all>?${option}`)] })),
  ...fields.map(([what, selector]): Case => ({ name: `list: Gadgets by ${what}`, kind: 'gadget', alone: true, steps: [...gadgetsOf, get(`<all>?fieldSelector=${selector}`)] })),
  ...tokens.map(([what, value]): Case => ({ name: `list: a token ${what}`, alone: true, steps: [...several(3), get('<all>'), get(`<all>?limit=1&continue=${encodeURIComponent(value)}`)] })),
  { name: 'list: a version too large', alone: true, steps: [get('<all>?resourceVersion=9999999999')] },
  { name: 'list: page after page', alone: true, steps: [...several(5), get('<all>?limit=2'), get('<all>?limit=2&continue=<5.metadata.continue>'), get('<all>?limit=2&continue=<6.metadata.continue>')] },
  { name: 'list: page after page, of all namespaces', alone: true, steps: [createNamed('a', { labels: { only: '<namespace>' } }), createNamed('b', { labels: { only: '<namespace>' } }), get('<every>?limit=1&labelSelector=only%3D<namespace>'), get('<every>?limit=1&labelSelector=only%3D<namespace>&continue=<2.metadata.continue>')] },
  { name: 'list: the next page at another replica', alone: true, steps: [...several(5), get('<all>?limit=2'), { ...get('<all>?limit=2&continue=<5.metadata.continue>'), replica: true }, get('<all>?limit=2&continue=<6.metadata.continue>')] },
  { name: 'list: a page is of its snapshot', alone: true, steps: [...several(4), get('<all>?limit=2'), createNamed('ba'), { method: 'DELETE', path: '<all>/<name>c' }, merge({}, ''), get('<all>?limit=2&continue=<4.metadata.continue>')] },
  { name: 'list: a page of its snapshot at another replica', alone: true, steps: [...several(4), get('<all>?limit=2'), createNamed('ba'), { method: 'DELETE', path: '<all>/<name>c' }, { ...get('<all>?limit=2&continue=<4.metadata.continue>'), replica: true }] },
  { name: 'list: the past, exactly', alone: true, steps: [...several(3), { method: 'DELETE', path: '<all>/<name>a' }, get('<all>?resourceVersion=<1.metadata.resourceVersion>&resourceVersionMatch=Exact')] },
  { name: 'list: continue with a version', alone: true, steps: [...several(3), get('<all>?limit=1'), get('<all>?limit=1&continue=<3.metadata.continue>&resourceVersion=<0.metadata.resourceVersion>')] },
  { name: 'list: continue with version 0', alone: true, steps: [...several(3), get('<all>?limit=1'), get('<all>?limit=1&continue=<3.metadata.continue>&resourceVersion=0')] },
  { name: 'list: continue with a match', alone: true, steps: [...several(3), get('<all>?limit=1'), get('<all>?continue=<3.metadata.continue>&resourceVersionMatch=Exact')] },
  { name: 'list: continue without limit', alone: true, steps: [...several(3), get('<all>?limit=1'), get('<all>?continue=<3.metadata.continue>')] },
  { name: 'list: continue with another selector', alone: true, steps: [...several(5), get('<all>?limit=1'), get('<all>?continue=<5.metadata.continue>&labelSelector=odd%3Dyes')] },
  { name: 'list: what is deleted is gone', alone: true, steps: [create(), get('<all>'), remove(), get('<all>')] },
];
