import Type, { type TSchema } from 'typebox';
import { recordDefinition } from '../../api/records/v1alpha1/records.ts';
import type { ResourceDefinition } from '../../api/resource.ts';
import { enumeration, int32, int64, intOrString, mapOf } from '../../api/structural.ts';
import type { Strategy } from '../../pkg/registry/strategy.ts';

const raw = (schema: object): TSchema => Type.Unsafe<unknown>(schema);
const formats = ['date', 'date-time', 'duration', 'email', 'ipv4', 'ipv6', 'cidr', 'mac', 'uuid', 'uri', 'byte', 'hostname', 'isbn', 'creditcard', 'hexcolor', 'bsonobjectid', 'password', 'ssn'];

const spec = Type.Object(
  {
    text: Type.Optional(Type.String({ minLength: 2, maxLength: 5, pattern: '^[a-z]+$', description: 'A short word.' })),
    choice: Type.Optional(enumeration(['one', 'two'] as const, { default: 'one', description: 'One of two.' })),
    level: Type.Optional(Type.Unsafe<number>({ type: 'integer', minimum: 1, maximum: 10, multipleOf: 2, description: 'An even number.' })),
    ratio: Type.Optional(Type.Unsafe<number>({ type: 'number', minimum: 0, exclusiveMinimum: true, maximum: 1, exclusiveMaximum: true, description: 'A share.' })),
    small: Type.Optional(int32({ description: 'A number of 32 bits.' })),
    large: Type.Optional(int64({ description: 'A number of 64 bits.' })),
    port: Type.Optional(intOrString({ description: 'A port, by number or name.' })),
    maybe: Type.Optional(raw({ type: 'string', nullable: true, description: 'A text, or null.' })),
    maybeDefault: Type.Optional(raw({ type: 'string', nullable: true, default: 'given', description: 'A text, or null, with a default.' })),
    strict: Type.Optional(raw({ type: 'string', default: 'given', description: 'A text with a default that takes no null.' })),
    formats: Type.Optional(raw({ type: 'object', description: 'A field a format.', properties: Object.fromEntries(formats.map((format) => [format, { type: 'string', format, description: `A ${format}.` }])) })),
    words: Type.Optional(raw({ type: 'array', maxItems: 3, minItems: 1, items: { type: 'string', minLength: 1 }, 'x-kubernetes-list-type': 'atomic', description: 'A list that is replaced as a whole.' })),
    members: Type.Optional(raw({ type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set', description: 'A set.' })),
    ports: Type.Optional(
      raw({
        type: 'array',
        description: 'A list whose items are told apart by name.',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['name'],
        items: {
          type: 'object',
          required: ['name'],
          properties: { name: { type: 'string', description: 'Key.' }, number: { type: 'integer', default: 80, description: 'Number.' } },
        },
      }),
    ),
    table: Type.Optional(mapOf<string>(Type.String({ maxLength: 4 }), { maxProperties: 2, description: 'A map.' })),
    whole: Type.Optional(raw({ type: 'object', 'x-kubernetes-map-type': 'atomic', properties: { a: { type: 'string' }, b: { type: 'string' } }, description: 'A struct that is replaced as a whole.' })),
    anything: Type.Optional(raw({ type: 'object', 'x-kubernetes-preserve-unknown-fields': true, properties: { known: { type: 'integer' } }, description: 'Whatever there is.' })),
    embedded: Type.Optional(raw({ type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true, description: 'An object of any kind.' })),
    either: Type.Optional(raw({ type: 'object', properties: { a: { type: 'string' }, b: { type: 'string' } }, oneOf: [{ required: ['a'] }, { required: ['b'] }], description: 'One of two fields.' })),
    negated: Type.Optional(raw({ type: 'string', not: { enum: ['bad'] }, description: 'Anything but bad.' })),
    fixed: Type.Optional(raw({ type: 'string', maxLength: 10, 'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'may not change' }], description: 'Set once.' })),
    rise: Type.Optional(raw({ type: 'integer', 'x-kubernetes-validations': [{ rule: 'self >= oldSelf', messageExpression: '"may not fall" + (self < 0 ? " below zero" : " back")', reason: 'FieldValueForbidden' }], description: 'Never falls.' })),
    guarded: Type.Optional(raw({ type: 'integer', 'x-kubernetes-validations': [{ rule: 'oldSelf.hasValue() ? self == oldSelf.value() + 1 : self == 0', optionalOldSelf: true, message: 'counts from zero' }], description: 'Counts.' })),
    min: Type.Optional(Type.Unsafe<number>({ type: 'integer', description: 'Lower bound.' })),
    max: Type.Optional(Type.Unsafe<number>({ type: 'integer', description: 'Upper bound.' })),
  },
  {
    default: {},
    description: 'What it should be.',
    'x-kubernetes-validations': [
      { rule: '!has(self.min) || !has(self.max) || self.min <= self.max', message: 'min must not exceed max', fieldPath: '.min' },
      { rule: '!has(self.text) || self.text != "never"' },
    ],
  },
);

const status = Type.Object({ phase: Type.Optional(Type.String({ description: 'Where it is.' })), seen: Type.Optional(int64({ description: 'What was seen.' })) }, { description: 'What it is.' });

/** A kind for tests that uses what schemas can say and the product's own do not. */
export const gadgets: ResourceDefinition = {
  group: 'lab.cozystack.io',
  version: 'v1alpha1',
  kind: 'Gadget',
  listKind: 'GadgetList',
  plural: 'gadgets',
  singular: 'gadget',
  shortNames: ['gdg'],
  categories: ['labware'],
  namespaced: true,
  schema: Type.Object({ spec: Type.Optional(spec), status: Type.Optional(status) }, { description: 'A kind for tests.' }),
  printerColumns: [
    { name: 'Choice', type: 'string', jsonPath: '.spec.choice' },
    { name: 'Level', type: 'integer', jsonPath: '.spec.level', description: 'Its level.' },
    { name: 'Ratio', type: 'number', format: 'float', jsonPath: '.spec.ratio' },
    { name: 'Words', type: 'string', jsonPath: '.spec.words', priority: 1 },
    { name: 'Known', type: 'boolean', jsonPath: '.spec.anything.flag' },
    { name: 'Since', type: 'date', jsonPath: '.spec.formats.date-time' },
  ],
  selectableFields: ['.spec.choice', '.spec.level', '.spec.text'],
};

export const gadgetStrategy: Strategy = {
  definition: gadgets,
  record: { ...recordDefinition(gadgets), group: 'records.lab.cozystack.io' },
  minimalSpec: {},
  gatedFields: [],
  validateName: () => [],
  validate: () => [],
  warnings: () => [],
};
