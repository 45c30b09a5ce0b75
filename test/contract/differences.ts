/** Where our answers differ from the twin's on purpose, and why. */
export interface Difference {
  /** Names of the cases, or what they begin with, followed by `*`. */
  cases: readonly string[];
  /** Step and place in its answer, as in `1.body.details`; what lies below is covered. Each must occur in each of the cases. */
  at: readonly string[];
  reason: string;
}

const finalizerOwner = 'f:metadata';
const inFirst = (...steps: number[]): string[] => steps.map((step) => `${step}.body.metadata.managedFields.0.fieldsV1.${finalizerOwner}`);

export const differences: readonly Difference[] = [
  {
    cases: ['get: a Tenant', 'create: a Tenant', 'create: a Tenant without spec', 'create: a Tenant with a null spec'],
    at: inFirst(0, 1),
    reason: 'whoever creates a Tenant owns the finalizer that admission adds: the host counts it among what the request says',
  },
  { cases: ['create: a Tenant with another finalizer'], at: inFirst(0), reason: 'as above' },
  { cases: ['update: a Tenant', 'delete: a Tenant, dry run'], at: inFirst(0, 1, 2), reason: 'as above' },
  { cases: ['delete: a Tenant'], at: inFirst(0, 1), reason: 'as above' },
  { cases: ['delete: a Tenant'], at: ['2.headers.warning', '2.body.metadata.finalizers', ...inFirst(2), '3.status', '3.body'], reason: 'nobody but the loop takes the finalizer off, who is not there: a tenant does not go and leave its namespace behind' },
  { cases: ['apply: a Tenant'], at: inFirst(0, 1, 2), reason: 'as above' },
  { cases: ['merge patch: a Tenant'], at: inFirst(0, 1, 2, 3), reason: 'as above' },
  { cases: ['list: Tenants'], at: [...inFirst(0), `1.body.items.0.metadata.managedFields.0.fieldsV1.${finalizerOwner}`], reason: 'as above' },
  {
    cases: ['status: a Tenant'],
    at: [...inFirst(0), ...[1, 3].map((step) => `${step}.body.metadata.managedFields.1.fieldsV1.${finalizerOwner}`)],
    reason: 'as above',
  },
  { cases: ['update: with another version'], at: ['1.headers.warning'], reason: 'as below' },
  { cases: ['create: with a wrong version'], at: ['0.headers.warning'], reason: 'in a version that it does not know the twin warns of every field before it refuses the version' },
  { cases: ['create: at a name'], at: ['0.status', '0.body'], reason: 'a custom resource overlooks the name in the path, which was authorized; a built-in one refuses it, and so do we' },
  { cases: ['merge patch: another uid'], at: ['1.body.details.causes'], reason: 'the twin says the same twice' },
  {
    cases: ['get: with a version that is none', 'get: with a negative version', 'get: with a version beyond numbers'],
    at: ['2.status', '2.body'],
    reason: "what the client got wrong is a bad request, as it is to a list; the twin calls it an internal error",
  },
  { cases: ['watch: from a version that is none'], at: ['4.status', '4.body'], reason: 'as above' },
  { cases: ['representation: of an object, accepting a list of metadata*'], at: ['1.status', '1.body'], reason: 'as above: what is no list cannot be had as one' },
  { cases: ['watch: accepting a list of metadata'], at: ['3.body'], reason: 'the twin says nothing at all then; we send the metadata that was meant' },
  { cases: ['watch: over WebSocket, no watch'], at: ['0.status', '0.headers', '0.body'], reason: "the front passes an aggregated server's answer on only where it is an upgrade or an error" },
  { cases: ['watch: a Tenant'], at: [...[0, 1].map((event) => `0.body.${event}.object.metadata.managedFields.0.fieldsV1.${finalizerOwner}`), ...inFirst(1, 2)], reason: 'the finalizer, as above' },
  {
    cases: ['representation: a Table of Tenants'],
    at: [...inFirst(0), `1.body.rows.0.object.metadata.managedFields.0.fieldsV1.${finalizerOwner}`],
    reason: 'the finalizer, as above',
  },
  { cases: ['quota: what is refused takes no place'], at: ['4.body.metadata.resourceVersion'], reason: 'a place is taken before the host validates, and given back: the quota has more versions, of which the case counts its own' },
  { cases: ['apply: body {'], at: ['0.body.message'], reason: 'the YAML parser explains faults in its own words' },
  { cases: ['delete: body with another kind', 'delete: body with an object of the kind'], at: ['1.body.message'], reason: "the twin's message names a line of Kubernetes' source" },
  {
    cases: ['delete: body with ignoreStoreReadErrorWithClusterBreakingPotential'],
    at: ['1.status', '1.body.message', '1.body.reason', '1.body.code'],
    reason: 'it is for objects that storage cannot read; the host lets the server delete no such record, and an administrator deletes the record itself',
  },
  {
    cases: ['create: with no name', 'create: with no metadata', 'create: with null metadata', 'gateway: an issuer that nobody knows'],
    at: ['0.body.message', '0.body.details.causes'],
    reason: 'what is wrong beyond rules is said by us, before the record is written; the twin adds that it checked no rules',
  },
  { cases: ['gateway: an issuer that nobody knows, later'], at: ['1.body.message', '1.body.details.causes'], reason: 'as above' },
];

/** The differences that are listed for a case. */
export const listedFor = (name: string): Difference[] =>
  differences.filter(({ cases }) => cases.some((pattern) => (pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern)));
