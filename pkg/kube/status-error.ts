import type { GroupResource, Status, StatusCause, StatusDetails } from '../../api/meta/v1/types.ts';

/** The machine-readable reasons of meta/v1 Status that this server gives or reads. */
export type StatusReason =
  | ''
  | 'Unauthorized'
  | 'Forbidden'
  | 'NotFound'
  | 'AlreadyExists'
  | 'Conflict'
  | 'Gone'
  | 'Invalid'
  | 'ServerTimeout'
  | 'Timeout'
  | 'TooManyRequests'
  | 'BadRequest'
  | 'MethodNotAllowed'
  | 'NotAcceptable'
  | 'RequestEntityTooLarge'
  | 'UnsupportedMediaType'
  | 'InternalError'
  | 'Expired'
  | 'ServiceUnavailable';

/** An error that carries the Status a client sees. Thrown deep, rendered once at the edge. */
export class StatusError extends Error {
  readonly status: Status;

  constructor(code: number, reason: StatusReason, message: string, details?: StatusDetails, cause?: unknown) {
    super(message, { cause }); // the cause is for our log, never for the client
    this.name = 'StatusError';
    this.status = {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message,
      ...(reason && { reason }),
      ...(details && { details }),
      code,
    };
  }

  get code(): number {
    return this.status.code ?? 500;
  }

  get reason(): string {
    return this.status.reason ?? '';
  }

  /** An error around a Status that another server gave, with its metadata: an expired list goes on with a token in there. */
  static of({ code, reason, message, details, metadata }: Status, cause?: unknown): StatusError {
    const error = new StatusError(code ?? 500, (reason ?? '') as StatusReason, message ?? 'unknown', details, cause);
    if (metadata) error.status.metadata = metadata;
    return error;
  }

  static badRequest(message: string, cause?: unknown): StatusError {
    return new StatusError(400, 'BadRequest', message, undefined, cause);
  }

  static unauthorized(): StatusError {
    return new StatusError(401, 'Unauthorized', 'Unauthorized');
  }

  static forbidden({ group, resource }: GroupResource, name: string, why: string): StatusError {
    const subject = name ? `${qualified(group, resource)} "${name}" is forbidden` : `${qualified(group, resource)} is forbidden`;
    return new StatusError(403, 'Forbidden', `${subject}: ${why}`, { ...(name && { name }), ...(group && { group }), kind: resource });
  }

  static notFound({ group, resource }: GroupResource, name: string): StatusError {
    return new StatusError(404, 'NotFound', `${qualified(group, resource)} "${name}" not found`, { name, ...(group && { group }), kind: resource });
  }

  static alreadyExists({ group, resource }: GroupResource, name: string): StatusError {
    return new StatusError(409, 'AlreadyExists', `${qualified(group, resource)} "${name}" already exists`, { name, ...(group && { group }), kind: resource });
  }

  static conflict({ group, resource }: GroupResource, name: string, why: string): StatusError {
    return new StatusError(409, 'Conflict', `Operation cannot be fulfilled on ${qualified(group, resource)} "${name}": ${why}`, {
      name,
      ...(group && { group }),
      kind: resource,
    });
  }

  /** 422 with one cause a fault; `kind` is the singular CamelCase kind. */
  static invalid(group: string, kind: string, name: string, causes: Required<StatusCause>[]): StatusError {
    const faults = causes.map((cause) => `${cause.field}: ${cause.message}`);
    const text = faults.length === 1 ? faults[0] : `[${faults.join(', ')}]`;
    return new StatusError(422, 'Invalid', `${qualified(group, kind)} "${name}" is invalid: ${text}`, { ...(name && { name }), ...(group && { group }), kind, causes });
  }

  static methodNotAllowed({ group, resource }: GroupResource, verb: string): StatusError {
    return new StatusError(405, 'MethodNotAllowed', `${verb} is not supported on resources of kind "${qualified(group, resource)}"`, {
      ...(group && { group }),
      kind: resource,
    });
  }

  /** 410: the asked version is no longer (or not) at hand. */
  static expired(message: string): StatusError {
    return new StatusError(410, 'Expired', message);
  }

  static tooManyRequests(message: string, retryAfterSeconds = 1): StatusError {
    return new StatusError(429, 'TooManyRequests', message, { retryAfterSeconds });
  }

  /** Whether what was asked for has been done is not known. */
  static timeout(message: string): StatusError {
    return new StatusError(504, 'Timeout', `Timeout: ${message}`, {});
  }

  static unavailable(message: string, cause?: unknown, retryAfterSeconds = 1): StatusError {
    return new StatusError(503, 'ServiceUnavailable', message, { retryAfterSeconds }, cause);
  }

  static internal(message: string, cause?: unknown): StatusError {
    return new StatusError(500, 'InternalError', `Internal error occurred: ${message}`, { causes: [{ message }] }, cause);
  }
}

/** `resource.group`, or the bare resource of the core group. */
const qualified = (group: string, resource: string): string => (group ? `${resource}.${group}` : resource);

/** Whether an error is a Status with this code. */
export const hasCode = (error: unknown, code: number): error is StatusError => error instanceof StatusError && error.code === code;

/** What was asked for, or undefined where there is none. */
export const ifFound = async <T>(request: Promise<T>): Promise<T | undefined> => {
  try {
    return await request;
  } catch (error) {
    if (hasCode(error, 404)) return undefined;
    throw error;
  }
};
