import type { oas30 } from 'openapi3-ts';

export type Schema = oas30.SchemaObject | oas30.ReferenceObject;

const metaName = (type: string): string => `io.k8s.apimachinery.pkg.apis.meta.v1.${type}`;

/** Where OpenAPI v3 keeps its schemas. */
export const componentPrefix = '#/components/schemas/';

/** A reference to a meta/v1 type, by the name that the kube-apiserver gives it. */
export const metaRef = (type: MetaType): oas30.ReferenceObject => ({ $ref: componentPrefix + metaName(type) });

/** A field of a meta/v1 type: a reference cannot carry a description of its own. */
export const metaField = (type: MetaType, description: string): oas30.SchemaObject => ({ description, allOf: [metaRef(type)] });

type MetaType =
  | 'DeleteOptions'
  | 'FieldsV1'
  | 'ListMeta'
  | 'ManagedFieldsEntry'
  | 'ObjectMeta'
  | 'OwnerReference'
  | 'Patch'
  | 'Preconditions'
  | 'Status'
  | 'StatusCause'
  | 'StatusDetails'
  | 'Time';

const text = (description: string): oas30.SchemaObject => ({ description, type: 'string' });
const flag = (description: string): oas30.SchemaObject => ({ description, type: 'boolean' });
const whole = (description: string, format: 'int32' | 'int64' = 'int64'): oas30.SchemaObject => ({ description, type: 'integer', format });
const stringMap = (description: string): oas30.SchemaObject => ({ description, type: 'object', additionalProperties: { type: 'string' } });
const object = (description: string, properties: Record<string, oas30.SchemaObject>, rest: Partial<oas30.SchemaObject> = {}): oas30.SchemaObject => ({
  description,
  type: 'object',
  properties,
  ...rest,
});

/** apiVersion and kind, which every object and list has. */
export const typeMeta: Record<'apiVersion' | 'kind', oas30.SchemaObject> = {
  apiVersion: text('Group and version that this object is written in, as in `group/version`.'),
  kind: text('Kind of the object, in CamelCase. It cannot be changed.'),
};

/** The meta/v1 types that our documents refer to, in our own words. Shapes: Kubernetes API reference, "Common Definitions". */
const metaTypes = (kindGroups: readonly { group: string; version: string }[]): Record<MetaType, oas30.SchemaObject> => ({
  DeleteOptions: object(
    'How an object is to be deleted.',
    {
      ...typeMeta,
      dryRun: { description: 'Run all stages of the request without keeping its result; the only value is `All`.', type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'atomic' },
      gracePeriodSeconds: whole('Seconds until the object is deleted; 0 means at once.'),
      ignoreStoreReadErrorWithClusterBreakingPotential: flag('Delete an object that can no longer be read from storage, past finalizers and preconditions.'),
      orphanDependents: flag('Deprecated in favour of propagationPolicy, and not to be set together with it: whether dependents are kept.'),
      preconditions: metaField('Preconditions', 'What must hold for the object to be deleted; if it does not, the answer is 409.'),
      propagationPolicy: text('What becomes of dependents: `Orphan` keeps them, `Background` deletes them afterwards, `Foreground` deletes them first.'),
    },
    { 'x-kubernetes-group-version-kind': [{ group: '', version: 'v1' }, ...kindGroups].map(({ group, version }) => ({ group, version, kind: 'DeleteOptions' })) },
  ),
  FieldsV1: { description: 'A set of fields as a tree in JSON: keys `f:<name>`, `k:<keys>`, `v:<value>` and `i:<index>` lead down, `.` stands for the field itself.', type: 'object' },
  ListMeta: object('Metadata of a list.', {
    continue: text('Token that brings the next page; present only if there is one. Its content is not for clients to read.'),
    remainingItemCount: whole('About how many items follow after this page; absent on the last page and wherever selectors make it unknown.'),
    resourceVersion: text('Version that the list shows, from which a watch can start. Opaque to clients.'),
    selfLink: text('Deprecated; never set.'),
  }),
  ManagedFieldsEntry: object('The fields that one manager has set in one way.', {
    apiVersion: text('Version of the resource in which the fields are named.'),
    fieldsType: text('Format of the set of fields; always `FieldsV1`.'),
    fieldsV1: metaField('FieldsV1', 'The fields themselves.'),
    manager: text('Name of the manager.'),
    operation: text('How the fields came to be set: `Apply` or `Update`.'),
    subresource: text('Subresource through which they were set; empty for the main resource.'),
    time: metaField('Time', 'When the manager last added a field, changed a value or gave a field up.'),
  }),
  ObjectMeta: object('Metadata of an object.', {
    annotations: stringMap('Arbitrary data that tools keep with the object; it cannot be selected by.'),
    creationTimestamp: metaField('Time', 'When the object was created, set by the server.'),
    deletionGracePeriodSeconds: whole('Seconds that the object is given to end; set together with deletionTimestamp.'),
    deletionTimestamp: metaField('Time', 'When deletion was asked for plus the grace period; set by the server. The object goes once its finalizers are gone.'),
    finalizers: {
      description: 'Names of those who have something to do before the object may go; in any order. Of an object being deleted, entries can only be removed.',
      type: 'array',
      items: { type: 'string' },
      'x-kubernetes-list-type': 'set',
      'x-kubernetes-patch-strategy': 'merge',
    },
    generateName: text('Prefix of a name that the server completes, where `name` is not given.'),
    generation: whole('Number of the desired state; it grows whenever that changes.'),
    labels: stringMap('Keys and values that objects are grouped and selected by.'),
    managedFields: { description: 'Who has set which fields; kept by the server.', type: 'array', items: metaRef('ManagedFieldsEntry'), 'x-kubernetes-list-type': 'atomic' },
    name: text('Name, unique for the kind within the namespace. It cannot be changed.'),
    namespace: text('Namespace of the object. It cannot be changed.'),
    ownerReferences: {
      description: 'Objects that this one depends on: when all of them are gone, it is deleted. At most one of them is its controller.',
      type: 'array',
      items: metaRef('OwnerReference'),
      'x-kubernetes-list-map-keys': ['uid'],
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-patch-merge-key': 'uid',
      'x-kubernetes-patch-strategy': 'merge',
    },
    resourceVersion: text('Version of the object. Opaque to clients; given back in an update, it makes the update fail if somebody else was faster.'),
    selfLink: text('Deprecated; never set.'),
    uid: text('Identifier of this very object, different from that of any object of the same name before or after it; set by the server.'),
  }),
  OwnerReference: object(
    'An object that another depends on, in the same namespace or in none.',
    {
      apiVersion: { ...text('Group and version of the owner.'), default: '' },
      blockOwnerDeletion: flag('Whether a foreground deletion of the owner waits for this object. Setting it takes permission to delete the owner.'),
      controller: flag('Whether the owner manages this object.'),
      kind: { ...text('Kind of the owner.'), default: '' },
      name: { ...text('Name of the owner.'), default: '' },
      uid: { ...text('Uid of the owner.'), default: '' },
    },
    { required: ['apiVersion', 'kind', 'name', 'uid'], 'x-kubernetes-map-type': 'atomic' },
  ),
  Patch: { description: 'A patch, in the format that the content type names.', type: 'object' },
  Preconditions: object('What must hold of an object before something is done to it.', {
    resourceVersion: text('The version that the object must have.'),
    uid: text('The uid that the object must have.'),
  }),
  Status: object(
    'The outcome of a request that gives no other object back, or that failed.',
    {
      ...typeMeta,
      code: whole('HTTP status code.', 'int32'),
      details: metaField('StatusDetails', 'More about the reason.'),
      message: text('What happened, for a person to read.'),
      metadata: { ...metaField('ListMeta', 'Metadata of a list.'), default: {} },
      reason: text('Why the request failed, for a program to read; it refines the status code.'),
      status: text('`Success` or `Failure`.'),
    },
    { 'x-kubernetes-group-version-kind': [{ group: '', version: 'v1', kind: 'Status' }] },
  ),
  StatusCause: object('One fault among those that made a request fail.', {
    field: text('Path of the field at fault, as in `spec.list[0].name`.'),
    message: text('What is wrong, for a person to read.'),
    reason: text('What is wrong, for a program to read.'),
  }),
  StatusDetails: object('More about why a request failed; which fields are set depends on the reason.', {
    causes: { description: 'Every fault that was found.', type: 'array', items: metaRef('StatusCause'), 'x-kubernetes-list-type': 'atomic' },
    group: text('Group of the resource.'),
    kind: text('Kind, or name of the resource.'),
    name: text('Name of the object.'),
    retryAfterSeconds: whole('Seconds to wait before another attempt.', 'int32'),
    uid: text('Uid of the object.'),
  }),
  Time: { description: 'A time as RFC 3339 has it, in UTC and whole seconds.', type: 'string', format: 'date-time' },
});

/** @param kindGroups the group versions whose deletions take DeleteOptions */
export const metaSchemas = (kindGroups: readonly { group: string; version: string }[]): Record<string, oas30.SchemaObject> =>
  Object.fromEntries(Object.entries(metaTypes(kindGroups)).map(([type, schema]) => [metaName(type), schema]));
