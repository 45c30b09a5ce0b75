import type { KubeObject, ManagedFieldsEntry, Status } from '../../../api/meta/v1/types.ts';
import { apiVersionOf } from '../../../api/resource.ts';
import { StatusError } from '../../kube/status-error.ts';
import type { ResourceNames } from '../names.ts';

/**
 * Translates between a virtual object and its record, which differ in type alone: name, namespace and the rest of the
 * metadata are one. managedFields name the version that their fields were written in, so they are translated too.
 */
export interface RecordCodec {
  toRecord: (object: KubeObject) => KubeObject;
  toVirtual: (record: KubeObject) => KubeObject;
  /** The same error, or success, with the virtual object's names in place of the record's. */
  toVirtualStatus: (status: Status) => Status;
  toVirtualError: (error: unknown) => unknown;
  toVirtualText: (text: string) => string;
}

export const recordCodec = (virtual: ResourceNames, record: ResourceNames): RecordCodec => {
  const toVirtualText = textTranslation(virtual, record);
  const toVirtualStatus = statusTranslation(virtual, record, toVirtualText);
  return {
    toVirtualText,
    toRecord: (object) => retyped(object, virtual, record),
    toVirtual: (object) => retyped(object, record, virtual),
    toVirtualStatus,
    toVirtualError: (error) => {
      if (!(error instanceof StatusError)) return error;
      return StatusError.of(toVirtualStatus(error.status), error);
    },
  };
};

const retyped = (object: KubeObject, from: ResourceNames, to: ResourceNames): KubeObject => {
  const { managedFields } = object.metadata;
  const result = { ...object, apiVersion: apiVersionOf(to), kind: to.kind };
  if (Array.isArray(managedFields)) {
    const translate = retypedEntry(apiVersionOf(from), apiVersionOf(to));
    result.metadata = { ...object.metadata, managedFields: managedFields.map(translate) };
  }
  return result;
};

const retypedEntry =
  (from: string, to: string) =>
  (entry: ManagedFieldsEntry): ManagedFieldsEntry =>
    entry?.apiVersion === from ? { ...entry, apiVersion: to } : entry;

const textTranslation = (virtual: ResourceNames, record: ResourceNames): ((text: string) => string) => {
  const names: [string, string][] = [
    [`${record.plural}.${record.group}`, `${virtual.plural}.${virtual.group}`],
    [`${record.kind}.${record.group}`, `${virtual.kind}.${virtual.group}`],
    [apiVersionOf(record), apiVersionOf(virtual)],
    [`Kind=${record.kind}`, `Kind=${virtual.kind}`],
    [`${record.kind} in version "${record.version}" cannot be handled as a ${record.kind}`, `${virtual.kind} in version "${virtual.version}" cannot be handled as a ${virtual.kind}`],
    [`${record.group}/${record.plural}`, `${virtual.group}/${virtual.plural}`], // a key of etcd
  ];
  return (text) => names.reduce((sofar, [from, to]) => sofar.replaceAll(from, to), text);
};

const statusTranslation = (virtual: ResourceNames, record: ResourceNames, translate: (text: string) => string): ((status: Status) => Status) => {
  return (status) => {
    const { details, message } = status;
    return {
      ...status,
      ...(message !== undefined && { message: translate(message) }),
      ...(details && {
        details: {
          ...details,
          ...(details.group === record.group && { group: virtual.group }),
          ...(details.kind === record.plural && { kind: virtual.plural }),
          ...(details.kind === record.kind && { kind: virtual.kind }),
          ...(details.causes && {
            causes: details.causes.map((cause) => ({ ...cause, ...(cause.message !== undefined && { message: translate(cause.message) }) })),
          }),
        },
      }),
    };
  };
};
