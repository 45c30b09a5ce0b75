import { StatusError } from '../kube/status-error.ts';

/** A representation asked for by `as=`, of group meta.k8s.io. */
export interface Conversion {
  kind: 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList';
  version: 'v1' | 'v1beta1';
}

const mediaTypes = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf'] as const;
export type MediaType = (typeof mediaTypes)[number];

/** How to write a response. */
export interface OutputFormat {
  mediaType: MediaType;
  as?: Conversion;
  pretty: boolean;
}

/** What an endpoint can write. */
export interface OutputOffer {
  /** Whether objects may be converted; then protobuf is for their metadata alone. */
  converts: boolean;
  /** Whether it writes a stream of events, which YAML cannot be. */
  stream?: true;
}

export const objectOffer: OutputOffer = { converts: true };
export const watchOffer: OutputOffer = { converts: true, stream: true };
/** Of a Status. */
export const plainOffer: OutputOffer = { converts: false };

export interface AcceptClause {
  type: string;
  subtype: string;
  parameters: Readonly<Record<string, string>>;
  quality: number;
}

/** The clauses of an Accept header (RFC 9110), best first; clauses of one quality keep their order unless one is less specific. */
export const parseAccept = (header: string): AcceptClause[] => {
  const clauses = header.split(',').flatMap((text) => {
    const [range = '', ...rest] = text.split(';').map((part) => part.trim());
    const [type = '', subtype = ''] = range.split('/');
    if (!type || (!subtype && type !== '*')) return [];
    const parameters = Object.fromEntries(
      rest.map((parameter) => {
        const at = parameter.indexOf('=');
        return at < 0 ? [parameter, ''] : [parameter.slice(0, at).trim(), parameter.slice(at + 1).trim().replace(/^"(.*)"$/, '$1')];
      }),
    ) as Record<string, string>;
    const { q, ...others } = parameters;
    const quality = q === undefined ? 1 : Number(q);
    return [{ type, subtype: subtype || '*', parameters: others, quality: Number.isFinite(quality) ? quality : 1 }];
  });
  return clauses.sort((a, b) => b.quality - a.quality || wildcards(a) - wildcards(b));
};

const wildcards = ({ type, subtype }: AcceptClause): number => (type === '*' ? 2 : subtype === '*' ? 1 : 0);

/**
 * Picks the format of a response.
 * @throws StatusError 406
 */
export const negotiate = (accept: string | undefined, query: URLSearchParams, userAgent: string | undefined, offer: OutputOffer): OutputFormat => {
  const pretty = wantsPretty(query, userAgent);
  if (!accept) return { mediaType: mediaTypes[0], pretty };
  for (const { type, subtype, parameters } of parseAccept(accept)) {
    for (const mediaType of mediaTypes) {
      const [offeredType, offeredSubtype] = mediaType.split('/');
      const matches = (type === offeredType && (subtype === offeredSubtype || subtype === '*')) || (type === '*' && subtype === '*');
      const as = matches && conversionOf(parameters, mediaType, offer);
      if (as === false) continue;
      if (offer.stream && mediaType === 'application/yaml') throw notAcceptable(streamTypes);
      return { mediaType, pretty: pretty || parameters.pretty === '1', ...(as && { as }) };
    }
  }
  throw notAcceptable(mediaTypes);
};

const streamTypes = ['application/json;stream=watch', 'application/vnd.kubernetes.protobuf;stream=watch'];
const notAcceptable = (types: readonly string[]): StatusError => new StatusError(406, 'NotAcceptable', `only the following media types are accepted: ${types.join(', ')}`);

/** The conversion that a clause asks for, undefined where none, false where it is not offered. */
const conversionOf = ({ as, g, v }: Readonly<Record<string, string>>, mediaType: MediaType, { converts }: OutputOffer): Conversion | undefined | false => {
  const protobuf = mediaType === 'application/vnd.kubernetes.protobuf';
  if (as === undefined && g === undefined && v === undefined) return protobuf && converts ? false : undefined;
  if (!converts || g !== 'meta.k8s.io' || (v !== 'v1' && v !== 'v1beta1')) return false;
  const kind = (['Table', 'PartialObjectMetadata', 'PartialObjectMetadataList'] as const).find((candidate) => candidate === as);
  return kind && !(protobuf && kind === 'Table') ? { kind, version: v } : false;
};

const wantsPretty = (query: URLSearchParams, userAgent = ''): boolean => {
  const asked = query.get('pretty');
  if (asked) return ['1', 't', 'true', 'T', 'True', 'TRUE'].includes(asked);
  return /^(curl|Wget|Mozilla\/5\.0)/.test(userAgent);
};

const bodyTypes = ['application/json', 'application/yaml'] as const;

/**
 * The media type of an object or options in a request's body: JSON unless something else is said.
 * @throws StatusError 415, which names protobuf as the kube-apiserver does for a custom resource: it is known, and not taken
 */
export const bodyMediaType = (contentType: string | undefined): (typeof bodyTypes)[number] =>
  inputMediaType(contentType || bodyTypes[0], bodyTypes, [...bodyTypes, 'application/vnd.kubernetes.protobuf']);

/**
 * The media type of a request's body, without parameters; `known` are those to name where it is none of the accepted.
 * @throws StatusError 415
 */
export const inputMediaType = <const T extends string>(contentType: string | undefined, accepted: readonly T[], known: readonly string[] = accepted): T => {
  const mediaType = (contentType ?? '').split(';')[0]!.trim().toLowerCase();
  const found = accepted.find((candidate) => candidate === mediaType);
  if (found) return found;
  throw new StatusError(
    415,
    'UnsupportedMediaType',
    `the body of the request was in an unknown format - accepted media types include: ${known.join(', ')}`,
  );
};
