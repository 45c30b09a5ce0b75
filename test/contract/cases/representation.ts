import type { Case } from '../case.ts';
import { bare, create, get, object, remove, several, update, versionOf } from './build.ts';

const as = (kind: string, type = 'application/json', version = 'v1'): string => `${type};as=${kind};g=meta.k8s.io;v=${version}`;
const protobuf = 'application/vnd.kubernetes.protobuf';

const accepts: readonly [string, string | null][] = [
  ['nothing said', null],
  ['nothing', ''],
  ['anything', '*/*'],
  ['any application', 'application/*'],
  ['JSON', 'application/json'],
  ['JSON in capitals', 'Application/JSON'],
  ['JSON with a charset', 'application/json; charset=utf-8'],
  ['pretty JSON', 'application/json; pretty=1'],
  ['YAML', 'application/yaml'],
  ['JSON or YAML', 'application/json, application/yaml'],
  ['YAML rather than JSON', 'application/json;q=0.5, application/yaml;q=0.9'],
  ['JSON rather than YAML', 'application/json;q=0.9, application/yaml;q=0.5'],
  ['HTML or anything', 'text/html, application/xhtml+xml, */*;q=0.8'],
  ['HTML', 'text/html'],
  ['a type that is none', 'json'],
  ['a quality of nothing', 'application/json;q=0'],
  ['a quality that is none', 'application/json;q=x'],
  ['a Table', as('Table')],
  ['a Table of v1beta1', as('Table', 'application/json', 'v1beta1')],
  ['a Table of v2', as('Table', 'application/json', 'v2')],
  ['a Table of another group', 'application/json;as=Table;g=example.org;v=v1'],
  ['a Table without version', 'application/json;as=Table;g=meta.k8s.io'],
  ['a Table in YAML', as('Table', 'application/yaml')],
  ['a Table in protobuf', as('Table', protobuf)],
  ['a Table or JSON', `${as('Table')}, application/json`],
  ['a Table as kubectl asks for it', `${as('Table')},${as('Table', 'application/json', 'v1beta1')},application/json`],
  ['metadata', as('PartialObjectMetadata')],
  ['metadata of v1beta1', as('PartialObjectMetadata', 'application/json', 'v1beta1')],
  ['metadata in YAML', as('PartialObjectMetadata', 'application/yaml')],
  ['metadata in protobuf', as('PartialObjectMetadata', protobuf)],
  ['metadata in protobuf or JSON', `${as('PartialObjectMetadata', protobuf)},${as('PartialObjectMetadata')}`],
  ['metadata in CBOR', as('PartialObjectMetadata', 'application/cbor')],
  ['a list of metadata', as('PartialObjectMetadataList')],
  ['a list of metadata in YAML', as('PartialObjectMetadataList', 'application/yaml')],
  ['a list of metadata in protobuf', as('PartialObjectMetadataList', protobuf)],
  ['a list of metadata in protobuf or JSON', `${as('PartialObjectMetadataList', protobuf)},${as('PartialObjectMetadataList')}`],
  ['an unknown form', as('Nothing')],
  ['protobuf', protobuf],
  ['protobuf or JSON', `${protobuf}, application/json`],
  ['protobuf, then JSON, as client-go does', `${protobuf},application/json`],
  ['CBOR', 'application/cbor'],
  ['CBOR or JSON', 'application/cbor, application/json'],
];

export const representations: readonly Case[] = [
  ...accepts.flatMap(([what, accept]): Case[] => [
    { name: `representation: of an object, accepting ${what}`, steps: [create(), { ...get(), accept }] },
    { name: `representation: of a list, accepting ${what}`, alone: true, steps: [...several(2), { ...get('<all>'), accept }] },
    { name: `representation: of an error, accepting ${what}`, steps: [{ ...get(), accept }] },
    { name: `representation: of a success, accepting ${what}`, steps: [create(), { ...remove(), accept }] },
  ]),
  ...[as('Table'), as('PartialObjectMetadata'), as('PartialObjectMetadata', protobuf), 'application/yaml', protobuf].flatMap((accept): Case[] => [
    { name: `representation: of a create, accepting ${accept}`, steps: [{ ...create(), accept }] },
    { name: `representation: of an update, accepting ${accept}`, steps: [create(), { ...update(object({ spec: { apex: 'example.net' } }, { resourceVersion: versionOf(0) })), accept }] },
    { name: `representation: of a refused create, accepting ${accept}`, steps: [{ ...create(object({ spec: {} })), accept }] },
    { name: `representation: of what is held and deleted, accepting ${accept}`, steps: [create(object({}, { finalizers: ['example.org/held'] })), { ...remove(), accept }] },
  ]),
  ...['None', 'Metadata', 'Object', '', 'Wrong'].flatMap((include): Case[] => [
    { name: `representation: a Table of a list with ${include || 'nothing said'}`, alone: true, steps: [...several(2), { ...get(`<all>?includeObject=${include}`), accept: as('Table') }] },
    { name: `representation: a Table of an object with ${include || 'nothing said'}`, steps: [create(), { ...get(`<one>?includeObject=${include}`), accept: as('Table') }] },
  ]),
  { name: 'representation: a Table of a page', alone: true, steps: [...several(3), { ...get('<all>?limit=2'), accept: as('Table') }] },
  { name: 'representation: a Table of nothing', alone: true, steps: [{ ...get('<all>'), accept: as('Table') }] },
  { name: 'representation: metadata of a page', alone: true, steps: [...several(3), { ...get('<all>?limit=2'), accept: as('PartialObjectMetadataList') }] },
  { name: 'representation: a Table of Tenants', kind: 'tenant', alone: true, steps: [create(bare()), { ...get('<all>'), accept: as('Table') }] },
  ...[
    {},
    { level: 4, ratio: 0.25, words: ['a', 'b'], anything: { flag: true }, formats: { 'date-time': '2020-01-02T03:04:05Z' } },
    { ratio: 0.1, anything: { flag: 'yes' }, formats: { 'date-time': '2220-01-02T03:04:05Z' } },
    { ratio: 0.0000001, anything: { flag: 1 } },
  ].map((spec, index): Case => ({ name: `representation: columns of a Gadget, ${index + 1}`, kind: 'gadget', alone: true, steps: [create(bare({ spec })), { ...get('<all>'), accept: as('Table') }, { ...get(), accept: as('Table') }] })),
  ...['gzip', 'deflate', 'br', 'gzip;q=0', '*', 'identity'].map((encoding): Case => ({ name: `representation: encoding ${encoding}`, steps: [create(), { ...get(), headers: { 'accept-encoding': encoding } }] })),
  ...['gzip', 'identity', 'gzip, deflate'].map(
    (encoding): Case => ({
      name: `representation: a large list, encoding ${encoding}`,
      alone: true,
      steps: [
        ...['a', 'b'].map((suffix) => create(object({ spec: { apex: 'example.org', attachedNamespaces: Array.from({ length: 4000 }, (_, index) => `namespace-${index}`) } }, { name: `<name>${suffix}` }))),
        { ...get('<all>'), headers: { 'accept-encoding': encoding } },
        { ...get('<all>/<name>a'), headers: { 'accept-encoding': encoding } },
        { ...get('<all>'), accept: 'application/yaml', headers: { 'accept-encoding': encoding } },
      ],
    }),
  ),
  ...['curl/8.0', 'Wget/1.2', 'Mozilla/5.0 (X11)', 'kubectl/v1.37'].map((agent): Case => ({ name: `representation: for ${agent}`, steps: [create(), { ...get(), headers: { 'user-agent': agent } }] })),
];
