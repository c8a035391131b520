import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { AppError, type ErrorCode, type ErrorKind, isAppError } from '../errors.ts';

/** Errors as RFC 9457 problem documents. The only place that knows HTTP status codes. */

const STATUS_BY_KIND: Readonly<Record<ErrorKind, number>> = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  gone: 410,
  already_exists: 409,
  conflict: 409,
  rate_limited: 429,
  not_configured: 501,
  unavailable: 503,
  corrupt: 503,
  internal: 500,
};

/** What the store refuses this service is no fault of the client's, and passes. */
const STATUS_BY_CODE: Partial<Readonly<Record<ErrorCode, number>>> = {
  body_too_large: 413,
  method_not_allowed: 405,
  request_timeout: 408,
  unsupported_media_type: 415,
  store_denied: 503,
  store_nonconforming: 503,
  invalid_configuration: 503,
  document_too_large: 503,
  upstream_unavailable: 502,
};

const TITLES: Readonly<Record<number, string>> = {
  400: 'The request is not valid',
  401: 'Sign in first',
  403: 'Not allowed',
  404: 'Not found',
  405: 'Method not allowed',
  408: 'Too slow',
  409: 'Conflict',
  410: 'Gone',
  413: 'Too large',
  415: 'Unsupported media type',
  429: 'Too many requests',
  500: 'Internal error',
  501: 'Not set up here',
  502: 'Bad answer from upstream',
  503: 'Temporarily unavailable',
};

const RETRY_AFTER_SECONDS = 5;

export const PROBLEM_TYPE = 'application/problem+json; charset=utf-8';

export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: ErrorCode;
  readonly request_id: string;
  readonly errors?: readonly { readonly pointer: string; readonly detail: string }[];
}

export function statusOf(error: AppError): number {
  return STATUS_BY_CODE[error.code] ?? STATUS_BY_KIND[error.kind];
}

export function problemOf(error: AppError, requestId: string): Problem {
  const status = statusOf(error);
  return {
    type: `urn:slipway:problem:${error.code}`,
    title: TITLES[status] ?? 'Error',
    status,
    // What is wrong inside is for the log: it may name hosts, buckets and keys.
    detail:
      status >= 500 && error.kind !== 'unavailable' && error.kind !== 'not_configured'
        ? 'Something is wrong on the server; the log says what, under this request id.'
        : publicDetail(error),
    code: error.code,
    request_id: requestId,
    ...(error.issues.length > 0 ? { errors: error.issues } : {}),
  };
}

/** Errors of the store name keys and places, which are nobody's business outside. */
const PUBLIC_SENTENCES: Partial<Readonly<Record<ErrorCode, string>>> = {
  store_unavailable: 'The object store does not answer. Try again shortly.',
  store_full: 'There is no room left to store this. Try again later.',
  outcome_unknown: 'The object store did not say whether this was done. Send it again.',
};

function publicDetail(error: AppError): string {
  return PUBLIC_SENTENCES[error.code] ?? error.message;
}

/** Answers any error as a problem document, and puts into the log what the client is not told. */
export function sendProblem(
  error: FastifyError | Error,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const known = toAppError(error);
  const status = statusOf(known);
  // An outage is in the log once, from where it is noticed; here it would be there for every client.
  if (status >= 500 && known.kind !== 'unavailable' && known.kind !== 'not_configured') {
    request.log.error({ err: error, code: known.code }, 'request failed');
  }
  if (status === 502 || status === 503 || status === 429) {
    reply.header('retry-after', String(known.retryAfterSeconds ?? RETRY_AFTER_SECONDS));
  }
  // RFC 9110, section 15.5.2: a 401 says how to sign in.
  if (status === 401) reply.header('www-authenticate', 'Bearer');
  return reply
    .code(status)
    .header('cache-control', 'no-store')
    .type(PROBLEM_TYPE)
    .send(JSON.stringify(problemOf(known, request.id)));
}

const CODE_BY_FASTIFY_CODE: Readonly<Record<string, ErrorCode>> = {
  FST_ERR_CTP_INVALID_JSON_BODY: 'malformed_json',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'malformed_json',
  FST_ERR_CTP_BODY_TOO_LARGE: 'body_too_large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_media_type',
};

function toAppError(error: FastifyError | Error): AppError {
  if (isAppError(error)) return error;
  const { code = '', statusCode = 500 } = error as Partial<FastifyError>;
  const ours =
    CODE_BY_FASTIFY_CODE[code] ?? (error instanceof SyntaxError ? 'malformed_json' : undefined);
  if (ours !== undefined) return new AppError(ours, sentence(ours), { cause: error });
  return statusCode >= 400 && statusCode < 500
    ? new AppError('invalid_request', error.message, { cause: error })
    : new AppError('internal', error.message, { cause: error });
}

function sentence(code: ErrorCode): string {
  if (code === 'body_too_large') return 'The body is larger than this address takes.';
  if (code === 'unsupported_media_type') return 'Send the body as application/json.';
  return 'The body is not valid JSON.';
}
