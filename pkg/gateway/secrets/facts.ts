import type { KubeObject } from '../../../api/meta/v1/types.ts';
import { judgeTls, type TlsResult } from './certificate.ts';

/** core/v1 Secret. */
export interface Secret extends KubeObject {
  type?: string;
  /** In base64. */
  data?: Record<string, string>;
  immutable?: boolean;
}

export const tlsType = 'kubernetes.io/tls';

/** What is known of a Secret: nothing that it holds. */
export type SecretFacts =
  | { state: 'present'; keys: ReadonlySet<string>; type: string; tls: TlsResult | undefined }
  | { state: 'absent' }
  /** The server may not look, or not yet. */
  | { state: 'unreadable' };

/** Of a Secret, `tls` where it is of that type. Keys with nothing in them are left out. */
export const factsOf = ({ type = 'Opaque', data = {} }: Secret): SecretFacts => {
  const bytes = (key: string): Buffer | undefined => (data[key] === undefined ? undefined : Buffer.from(data[key], 'base64'));
  const keys = new Set(Object.keys(data).filter((key) => data[key] !== ''));
  return { state: 'present', keys, type, tls: type === tlsType ? judgeTls(bytes('tls.crt'), bytes('tls.key')) : undefined };
};
