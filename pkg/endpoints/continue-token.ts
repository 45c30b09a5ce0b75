import { StatusError } from '../kube/status-error.ts';
import { JsonSyntaxError, scanJson } from './structural/json-scan.ts';

/** Where the next page begins: the version of the snapshot, and the key after which to go on, relative to the listed prefix. */
export interface ContinueToken {
  version: number;
  /** First key that belongs to the next page, as in `name\0` for a namespaced list and `namespace/name\0` for all. */
  start: string;
}

/** The kube-apiserver's own form, so that any replica, and the kube-apiserver itself, can go on from it. */
export const encodeContinue = ({ version, start }: ContinueToken): string =>
  Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rv: version, start })).toString('base64url');

/** @throws StatusError 400 */
export const decodeContinue = (token: string): ContinueToken => {
  const parsed = parse(token);
  if (parsed.v !== 'meta.k8s.io/v1') throw invalid(`server does not recognize this encoded version ${typeof parsed.v === 'string' ? parsed.v : ''}`);
  if (typeof parsed.start !== 'string' || parsed.start === '') throw invalid('encoded start key empty');
  if (typeof parsed.rv !== 'number' || (parsed.rv <= 0 && parsed.rv !== -1)) throw invalid('incorrect encoded start resourceVersion');
  if (parsed.start.split('/').includes('..')) throw invalid('the start key is outside of the list');
  return { version: parsed.rv, start: parsed.start.replace(/^\//, '') }; // the kube-apiserver's own cache writes a slash first
};

const invalid = (why: string): StatusError => StatusError.badRequest(`invalid continue token: continue key is not valid: ${why}`);

const parse = (token: string): { v?: unknown; rv?: unknown; start?: unknown } => {
  const foreign = token.search(/[^\w-]/);
  if (foreign >= 0) throw invalid(`illegal base64 data at input byte ${foreign}`);
  const bytes = Buffer.from(token, 'base64url');
  try {
    scanJson(bytes);
    return (JSON.parse(bytes.toString('utf8')) ?? {}) as ReturnType<typeof parse>;
  } catch (error) {
    throw error instanceof JsonSyntaxError || error instanceof SyntaxError ? invalid(error.message) : error;
  }
};
