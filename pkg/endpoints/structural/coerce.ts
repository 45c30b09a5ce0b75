import { cannotBeHandled } from './decode.ts';
import { applyDefaults, dropNulls } from './default.ts';
import { coerceMetadata, MetadataError } from './object-meta.ts';
import { prune } from './prune.ts';
import type { JsonObject } from '../../json/object.ts';
import type { StructuralSchema } from './schema.ts';

/**
 * What decoding does to an object of a kind with a structural schema, in Kubernetes' order: metadata is read as ObjectMeta,
 * unknown fields and unwelcome nulls are dropped, defaults are filled in. The object itself is left as it is.
 * @returns also the paths of the unknown fields: those of metadata first, then the others
 * @throws StatusError 400 where metadata cannot be read (`faultOf` makes another error of its message, as a patch does)
 */
export const coerceObject = (
  schema: StructuralSchema,
  object: JsonObject,
  faultOf: (message: string) => Error = (message) => cannotBeHandled(object, message),
): { value: JsonObject; unknownFields: string[] } => {
  const meta = Object.hasOwn(object, 'metadata') ? readMetadata(object['metadata'], faultOf) : undefined;
  const pruned = prune(schema, object);
  const value = applyDefaults(schema, dropNulls(schema, pruned.value)) as JsonObject;
  return {
    value: meta ? { ...value, metadata: meta.metadata } : value,
    unknownFields: [...(meta?.unknownFields ?? []), ...pruned.unknownFields],
  };
};

const readMetadata = (metadata: unknown, faultOf: (message: string) => Error): { metadata: JsonObject; unknownFields: string[] } => {
  try {
    return coerceMetadata(metadata);
  } catch (error) {
    throw error instanceof MetadataError ? faultOf(error.message) : error;
  }
};
