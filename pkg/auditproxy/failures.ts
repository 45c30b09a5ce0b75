import { StatusError } from '../kube/status-error.ts';
import { ConnectionError } from '../kube/transport.ts';

/** What went wrong between here and the backend, for metrics. */
export type Failure = 'unreachable' | 'broken' | 'timeout';

export class BackendTimeout extends Error {}

export const stopping = (): StatusError => StatusError.unavailable('the audit proxy is stopping; try again');

/** Undefined where it was not the backend that failed. */
export const failureOf = (error: unknown): Failure | undefined => {
  if (error instanceof StatusError) return undefined;
  if (error instanceof BackendTimeout) return 'timeout';
  return error instanceof ConnectionError && error.unprocessed ? 'unreachable' : 'broken';
};

/**
 * What the client learns of a backend that failed, in the words of the kube-apiserver's proxy: 503 where the request surely did
 * not arrive and may be sent again, 502 where nobody knows, 504 where no answer began in time.
 */
export const statusOfFailure = (error: unknown): StatusError => {
  if (error instanceof StatusError) return error;
  const why = (error as Error).message;
  switch (failureOf(error)) {
    case 'timeout':
      return new StatusError(504, 'Timeout', `Timeout: ${why}`, undefined, error);
    case 'unreachable':
      return new StatusError(503, 'ServiceUnavailable', `error trying to reach service: ${why}`, { retryAfterSeconds: 1 }, error);
    default:
      return new StatusError(502, 'InternalError', `error trying to reach service: ${why}`, undefined, error);
  }
};
