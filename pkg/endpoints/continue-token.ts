import { StatusError } from '../kube/status-error.ts';
import { jsonTypeOf } from './structural/decode.ts';
import { JsonSyntaxError, scanJson } from './structural/json-scan.ts';
import { isObject } from '../json/object.ts';

/** Where the next page begins: the version of the snapshot, and the key after which to go on, relative to the listed prefix. */
export interface ContinueToken {
  version: number;
  /** First key that belongs to the next page, as in `name\0` for a namespaced list and `namespace/name\0` for all; a slash may stand before it. */
  start: string;
}

/** The kube-apiserver's own form, so that any replica, and the kube-apiserver itself, can go on from it. */
export const encodeContinue = ({ version, start }: ContinueToken): string =>
  Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rv: version, start })).toString('base64url');

/** @throws StatusError 400 */
export const decodeContinue = (token: string): ContinueToken => {
  const parsed = parse(token);
  if (!isObject(parsed)) throw invalid(`json: cannot unmarshal ${jsonTypeOf(parsed)} into Go value of type storage.continueToken`);
  const { v, rv, start } = { v: '', rv: 0, start: '', ...parsed };
  for (const [field, value, type] of [['v', v, 'string'], ['rv', rv, 'int64'], ['start', start, 'string']] as const) {
    if (typeof value !== (type === 'int64' ? 'number' : type)) throw invalid(`json: cannot unmarshal ${jsonTypeOf(value)} into Go struct field continueToken.${field} of type ${type}`);
  }
  if (v !== 'meta.k8s.io/v1') throw invalid(`server does not recognize this encoded version ${v}`);
  if (rv === 0) throw invalid('incorrect encoded start resourceVersion (version meta.k8s.io/v1)');
  if (start === '') throw invalid('encoded start key empty (version meta.k8s.io/v1)');
  const key = start.replace(/^\//, '');
  if (key.split('/').some((part) => part === '' || part === '.' || part === '..')) throw invalid(start);
  return { version: rv, start: key };
};

const invalid = (why: string): StatusError => StatusError.badRequest(`invalid continue token: continue key is not valid: ${why}`);

const parse = (token: string): unknown => {
  const foreign = token.search(/[^\w-]/);
  if (foreign < 0 && token.length % 4 === 1) throw invalid(`illegal base64 data at input byte ${token.length - 1}`);
  if (foreign >= 0) throw invalid(`illegal base64 data at input byte ${foreign}`);
  const bytes = Buffer.from(token, 'base64url');
  try {
    scanJson(bytes);
    return (JSON.parse(bytes.toString('utf8')) as unknown) ?? {};
  } catch (error) {
    throw error instanceof JsonSyntaxError || error instanceof SyntaxError ? invalid(error.message) : error;
  }
};
