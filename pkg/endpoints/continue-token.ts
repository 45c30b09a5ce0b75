import { StatusError } from '../kube/status-error.ts';

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
  let parsed: { v?: unknown; rv?: unknown; start?: unknown };
  try {
    parsed = JSON.parse(Buffer.from(token, 'base64url').toString('utf8')) as typeof parsed;
  } catch (error) {
    throw StatusError.badRequest(`continue key is not valid: ${(error as Error).message}`);
  }
  if (parsed.v !== 'meta.k8s.io/v1') throw StatusError.badRequest('continue key is not valid: server does not recognize this encoded version');
  if (typeof parsed.start !== 'string' || parsed.start === '') throw StatusError.badRequest('continue key is not valid: encoded start key empty');
  if (typeof parsed.rv !== 'number' || (parsed.rv <= 0 && parsed.rv !== -1)) throw StatusError.badRequest('continue key is not valid: incorrect encoded start resourceVersion');
  if (parsed.start.split('/').includes('..')) throw StatusError.badRequest('continue key is not valid: the start key is outside of the list');
  return { version: parsed.rv, start: parsed.start };
};
