import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { stringify } from 'yaml';
import type { Tenant } from '../../../api/apps/v1alpha1/tenant.ts';
import type { KubeObject } from '../../../api/meta/v1/types.ts';
import type { Secret } from '../secrets/facts.ts';
import { planReplicas, terminatesTls, type ReplicaAction, type ReplicaView } from './replicas.ts';
import { wishOf, type Source } from './source.ts';

const valuesOf = (text: string | undefined): KubeObject => ({ apiVersion: 'v1', kind: 'Secret', metadata: {}, data: text === undefined ? {} : { 'values.yaml': Buffer.from(text).toString('base64') } });
const cluster = (values: object): KubeObject => valuesOf(stringify({ _cluster: values }));

describe('what the platform says of a wildcard certificate', () => {
  const on = (namespace: string, name = 'wild') => ({ state: 'on', namespace, name });
  for (const { name, values, wish } of [
    { name: 'no Secret with values', values: [undefined, undefined], wish: { state: 'unsaid' } },
    { name: 'a Secret without values', values: [valuesOf(undefined)], wish: { state: 'unsaid' } },
    { name: 'values that are no YAML', values: [valuesOf('{')], wish: { state: 'unsaid' } },
    { name: 'values that are no map', values: [valuesOf('[]')], wish: { state: 'unsaid' } },
    { name: 'values without the key', values: [cluster({ 'root-host': 'example.org' })], wish: { state: 'unsaid' } },
    { name: 'a name that cannot be one', values: [cluster({ 'wildcard-secret-name': '../x' })], wish: { state: 'unsaid' } },
    { name: 'an empty name', values: [cluster({ 'wildcard-secret-name': '' })], wish: { state: 'off' } },
    { name: 'a name', values: [cluster({ 'wildcard-secret-name': 'wild' })], wish: on('tenant-root') },
    { name: 'a name, and who serves the platform', values: [cluster({ 'wildcard-secret-name': 'wild', 'expose-ingress': 'tenant-front' })], wish: on('tenant-front') },
    { name: 'a name, with a namespace of its own', values: [cluster({ 'wildcard-secret-name': 'wild', 'expose-ingress': 'tenant-front', 'wildcard-secret-namespace': 'cozy-certificates' })], wish: on('cozy-certificates') },
    { name: "root's, where the platform has none", values: [undefined, cluster({ 'wildcard-secret-name': 'wild' })], wish: on('tenant-root') },
    { name: "the platform's before root's", values: [cluster({ 'wildcard-secret-name': 'a' }), cluster({ 'wildcard-secret-name': 'b' })], wish: on('tenant-root', 'a') },
    { name: "the platform's before root's, though it says nothing", values: [cluster({}), cluster({ 'wildcard-secret-name': '' })], wish: { state: 'unsaid' } },
  ])
    it(`${name}: ${wish.state}`, () => assert.deepEqual(wishOf(values), wish));
});

describe('whether TLS ends in a namespace', () => {
  const tenant = (spec: object): Tenant => ({ apiVersion: 'apps.cozystack.io/v1alpha1', kind: 'Tenant', metadata: { namespace: 'tenant-root', name: 'acme', uid: 'u' }, spec }) as unknown as Tenant;
  const namespace = (labels: Record<string, string>): KubeObject => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'tenant-acme', labels } });
  const made = { 'app.kubernetes.io/managed-by': 'tenant-apiserver', 'tenant.cozystack.io/uid': 'u' };
  const claimed = { 'namespace.cozystack.io/gateway': 'tenant-acme', 'namespace.cozystack.io/ingress': 'tenant-acme' };
  for (const { name, labels, spec, ends } of [
    { name: 'a tenant with a gateway', labels: made, spec: { gateway: true }, ends: true },
    { name: 'a tenant with an ingress controller', labels: made, spec: { ingress: true }, ends: true },
    { name: 'a tenant with neither, whose namespace somebody labelled', labels: { ...made, ...claimed }, spec: {}, ends: false },
    { name: 'a namespace that somebody made for a tenant of that name', labels: claimed, spec: { gateway: true }, ends: false },
    { name: 'the namespace of an earlier tenant of that name', labels: { ...made, 'tenant.cozystack.io/uid': 'other' }, spec: { gateway: true }, ends: false },
  ])
    it(`${name}: ${ends ? 'yes' : 'no'}`, () => assert.equal(terminatesTls(namespace(labels), tenant(spec)), ends));
});

describe('replicas of a wildcard certificate', () => {
  const original: Secret = { apiVersion: 'v1', kind: 'Secret', metadata: { namespace: 'tenant-root', name: 'wild', uid: 'source', labels: { operator: 'label' } }, type: 'kubernetes.io/tls', data: { 'tls.crt': 'Yw==', 'tls.key': 'aw==' } };
  const on = (secret: Secret | undefined = original): Source => ({ state: 'on', namespace: 'tenant-root', name: 'wild', secret });
  const copyOf = (change: Partial<Secret> = {}, metadata: object = {}): Secret => ({
    ...original,
    metadata: {
      namespace: 'tenant-acme',
      name: 'wild',
      uid: 'copy',
      labels: { 'app.kubernetes.io/managed-by': 'tenant-apiserver', 'cozystack.io/wildcard-secret-copy': 'true', theirs: 'stays' },
      annotations: { 'cozystack.io/wildcard-secret-source': 'tenant-root/wild' },
      ...metadata,
    },
    ...change,
  });
  const view = (change: Partial<ReplicaView>): ReplicaView => ({ namespace: 'tenant-acme', isTarget: true, source: on(), copies: [], existing: undefined, ...change });
  const short = (action: ReplicaAction): string => `${action.do} ${action.secret.metadata.name}`;
  const old = copyOf({}, { name: 'old' });

  for (const { name, found, does } of [
    { name: 'a namespace where TLS ends gets one', found: view({}), does: ['create wild'] },
    { name: 'one that is right is left alone', found: view({ copies: [copyOf()], existing: copyOf() }), does: [] },
    { name: 'a namespace where TLS no longer ends loses it', found: view({ isTarget: false, copies: [copyOf()] }), does: ['delete wild'] },
    { name: 'a namespace where TLS does not end gets none', found: view({ isTarget: false }), does: [] },
    { name: 'after a rename the new one comes, then the old one goes', found: view({ copies: [old] }), does: ['create wild', 'delete old'] },
    { name: 'a new certificate is taken over', found: view({ copies: [copyOf()], existing: copyOf({ data: { 'tls.crt': 'bmV3', 'tls.key': 'aw==' } }) }), does: ['update wild'] },
    { name: 'what somebody added is taken out', found: view({ copies: [copyOf()], existing: copyOf({ data: { ...original.data, more: 'eA==' } }) }), does: ['update wild'] },
    { name: 'one that says it is of another source is corrected', found: view({ copies: [copyOf()], existing: copyOf({}, { annotations: { 'cozystack.io/wildcard-secret-source': 'x/y' } }) }), does: ['update wild'] },
    { name: 'one of another type is made anew, since a type cannot be changed', found: view({ copies: [copyOf()], existing: copyOf({ type: 'Opaque' }) }), does: ['replace wild'] },
    { name: 'one that was made immutable is made anew', found: view({ copies: [copyOf()], existing: copyOf({ immutable: true, data: {} }) }), does: ['replace wild'] },
    { name: "somebody's own Secret of that name is left alone", found: view({ existing: copyOf({}, { labels: {} }) }), does: ['skip wild'] },
    { name: "somebody's own Secret does not keep old replicas", found: view({ copies: [old], existing: copyOf({}, { labels: {} }) }), does: ['skip wild', 'delete old'] },
    { name: 'while the source is missing, or of another type, all stay', found: view({ source: { ...on(), secret: undefined } as Source, isTarget: false, copies: [copyOf(), old] }), does: [] },
    { name: 'while nothing is said, all stay', found: view({ source: { state: 'unsaid' }, isTarget: false, copies: [copyOf(), old] }), does: [] },
    { name: 'when there is to be none, all go', found: view({ source: { state: 'off' }, copies: [copyOf(), old] }), does: ['delete wild', 'delete old'] },
    { name: 'the source itself is never touched, though it carries the label of a replica', found: view({ namespace: 'tenant-root', copies: [copyOf({}, { namespace: 'tenant-root' })] }), does: [] },
    { name: 'where the source is, other replicas go', found: view({ namespace: 'tenant-root', copies: [old] }), does: ['delete old'] },
  ] as { name: string; found: ReplicaView; does: string[] }[])
    it(name, () => assert.deepEqual(planReplicas(found).map(short), does));

  it('carry the certificate and its type, our marks, and nothing else of the source', () => {
    const [action] = planReplicas(view({}));
    assert.deepEqual((action as { secret: Secret }).secret, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        namespace: 'tenant-acme',
        name: 'wild',
        labels: { 'app.kubernetes.io/managed-by': 'tenant-apiserver', 'cozystack.io/wildcard-secret-copy': 'true' },
        annotations: { 'cozystack.io/wildcard-secret-source': 'tenant-root/wild' },
      },
      type: 'kubernetes.io/tls',
      data: original.data,
    });
  });

  it('are settled by one pass, whatever was found', () => {
    const data = fc.dictionary(fc.constantFrom('tls.crt', 'tls.key', 'ca.crt', 'x'), fc.constantFrom('YQ==', 'Yg=='), { noNullPrototype: true });
    const secret = fc.record({ data, type: fc.constantFrom('kubernetes.io/tls', 'Opaque'), immutable: fc.boolean(), isCopy: fc.boolean() });
    fc.assert(
      fc.property(data, fc.option(secret, { nil: undefined }), fc.boolean(), (wanted, found, isTarget) => {
        const existing = found && copyOf({ data: found.data as Record<string, string>, type: found.type, immutable: found.immutable }, found.isCopy ? {} : { labels: {} });
        const source = on({ ...original, data: wanted as Record<string, string> });
        const before = view({ isTarget, source, copies: existing && found.isCopy ? [existing] : [], existing });
        const after = planReplicas(before).reduce<ReplicaView>((seen, action) => carried(seen, action), before);
        assert.deepEqual(planReplicas(after).filter((action) => action.do !== 'skip'), []);
        if (isTarget && (!found || found.isCopy)) assert.deepEqual([after.existing?.data, after.existing?.type], [wanted, 'kubernetes.io/tls']);
      }),
    );
  });

  /** The namespace after an action, as the kube-apiserver would have it. */
  const carried = (seen: ReplicaView, action: ReplicaAction): ReplicaView => {
    if (action.do === 'skip') return seen;
    if (action.do === 'delete') return { ...seen, copies: seen.copies.filter((copy) => copy.metadata.name !== action.secret.metadata.name), existing: undefined };
    if (action.do === 'create') return { ...seen, copies: [...seen.copies, action.secret], existing: action.secret };
    if (action.do === 'replace') return { ...seen, copies: [action.by], existing: action.by };
    const data = Object.fromEntries(Object.entries({ ...action.secret.data, ...action.change.data }).filter(([, value]) => value !== null)) as Record<string, string>;
    const existing = { ...action.secret, data, metadata: { ...action.secret.metadata, ...action.change.metadata } };
    return { ...seen, copies: [existing], existing };
  };
});
