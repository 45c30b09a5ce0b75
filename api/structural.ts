import Type, { type TSchema, type TUnsafe } from 'typebox';

/**
 * Schema builders whose JSON form is a *structural schema* (KEP-1693, CRD v1), which TypeBox's own union, record and
 * integer forms are not. Options are copied to the schema as they are.
 */
type Options = Record<string, unknown>;

/** A string limited to the given values. */
export const enumeration = <const V extends readonly string[]>(values: V, options: Options = {}): TUnsafe<V[number]> =>
  Type.Unsafe<V[number]>({ ...options, type: 'string', enum: [...values] });

/** A map from any key to one kind of value. */
export const mapOf = <V>(value: TSchema, options: Options = {}): TUnsafe<Record<string, V>> =>
  Type.Unsafe<Record<string, V>>({ ...options, type: 'object', additionalProperties: value });

/** A Kubernetes quantity: an integer or a string. */
export const intOrString = (options: Options = {}): TUnsafe<number | string> =>
  Type.Unsafe<number | string>({ ...options, anyOf: [{ type: 'integer' }, { type: 'string' }], 'x-kubernetes-int-or-string': true });

export const int64 = (options: Options = {}): TUnsafe<number> => Type.Unsafe<number>({ ...options, type: 'integer', format: 'int64' });

export const int32 = (options: Options = {}): TUnsafe<number> => Type.Unsafe<number>({ ...options, type: 'integer', format: 'int32' });

/** meta/v1 Condition, with the validation that its Go type declares. */
export const condition = Type.Object(
  {
    lastTransitionTime: Type.String({ format: 'date-time', description: 'When the condition last passed from one status to another.' }),
    message: Type.String({ maxLength: 32768, description: 'Details about the transition, for a person to read; may be empty.' }),
    observedGeneration: Type.Optional(
      int64({ minimum: 0, description: 'The metadata.generation that the condition was set upon; an older one than the current means out of date.' }),
    ),
    reason: Type.String({
      minLength: 1,
      maxLength: 1024,
      pattern: '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$',
      description: 'A programmatic identifier, in CamelCase, of why the condition last changed.',
    }),
    status: enumeration(['True', 'False', 'Unknown'] as const, { description: 'Whether the condition holds.' }),
    type: Type.String({
      maxLength: 316,
      pattern: '^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$',
      description: 'What the condition is about, in CamelCase.',
    }),
  },
  { description: 'One aspect of the current state.' },
);

/** `status.conditions`: a list whose items are told apart by type. */
export const conditions = (options: Options = {}) =>
  Type.Optional(
    Type.Array(condition, { ...options, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'] }),
  );

/** core/v1 SecretKeySelector: a key of a Secret in the same namespace. */
export const secretKeySelector = (description: string) =>
  Type.Object(
    {
      key: Type.String({ description: 'The key of the Secret to select from.' }),
      name: Type.Optional(Type.String({ default: '', description: 'Name of the Secret, in the same namespace.' })),
      optional: Type.Optional(Type.Boolean({ description: 'Whether the Secret or its key may be absent.' })),
    },
    { description, 'x-kubernetes-map-type': 'atomic' },
  );
