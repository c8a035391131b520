import { STATUS_CODES } from 'node:http';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { AppError, type ErrorCode, type ErrorKind, isAppError, kindOf } from '../../core/errors.ts';

/** Errors as RFC 9457 problem documents. The only file that knows the HTTP status codes of errors. */

export type ErrorStatus =
  | (400 | 401 | 403 | 404 | 405 | 408 | 409 | 410 | 412 | 413 | 415 | 416 | 429 | 431)
  | (500 | 501 | 502 | 503);

const STATUS_BY_KIND: Readonly<Record<ErrorKind, ErrorStatus>> = {
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

/**
 * When a store refuses this service, the status is 503: it is not the client's fault, and the operator can repair it.
 */
const STATUS_BY_CODE: Partial<Readonly<Record<ErrorCode, ErrorStatus>>> = {
  body_too_large: 413,
  method_not_allowed: 405,
  request_timeout: 408,
  headers_too_long: 431,
  precondition_failed: 412,
  range_not_satisfiable: 416,
  unsupported_media_type: 415,
  store_denied: 503,
  store_nonconforming: 503,
  invalid_configuration: 503,
  root_missing: 503,
  document_too_large: 503,
  upstream_unavailable: 502,
};

const RETRY_AFTER_SECONDS = 5;

export const PROBLEM_TYPE = 'application/problem+json; charset=utf-8';

interface Problem {
  readonly type: string;
  /** The reason phrase of the status. */
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: ErrorCode;
  readonly request_id: string;
  readonly errors?: readonly { readonly pointer: string; readonly detail: string }[];
}

export function statusOf(code: ErrorCode): ErrorStatus {
  return STATUS_BY_CODE[code] ?? STATUS_BY_KIND[kindOf(code)];
}

/** @param requestId identifies the request in the log */
export function problemOf(error: AppError, requestId: string): Problem {
  const { code, issues } = error;
  const status = statusOf(code);
  return {
    type: `urn:slipway:problem:${code}`,
    title: STATUS_CODES[status] ?? 'Error',
    status,
    detail: publicDetail(error),
    code,
    request_id: requestId,
    ...(issues.length > 0 ? { errors: issues } : {}),
  };
}

/** Messages of store errors name keys and hosts, which clients must not learn. */
const PUBLIC_DETAILS: Partial<Readonly<Record<ErrorCode, string>>> = {
  store_unavailable: 'The object store does not answer. Try again shortly.',
  store_full: 'The object store is full. Try again later.',
  outcome_unknown: 'The object store did not confirm that this was done. Send it again.',
};

function publicDetail(error: AppError): string {
  if (isForLogOnly(error)) {
    return 'The server failed. Its log has the reason under this request id.';
  }
  return PUBLIC_DETAILS[error.code] ?? error.message;
}

/**
 * True when the message may name hosts, buckets and keys. False for outages: the part that notices an outage logs it
 * once, and this log would repeat it for every client.
 */
function isForLogOnly({ code, kind }: AppError): boolean {
  return statusOf(code) >= 500 && kind !== 'unavailable' && kind !== 'not_configured';
}

/** Sends any error as a problem document, and logs the details that the client must not see. */
export function sendProblem(
  error: FastifyError | Error,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const problem = prepareProblem(error, request, reply);
  return reply.type(PROBLEM_TYPE).send(JSON.stringify(problem));
}

/**
 * The problem document for any error. Sets status and headers of the reply, and logs the details that the client must
 * not see.
 */
export function prepareProblem(
  error: FastifyError | Error,
  request: FastifyRequest,
  reply: FastifyReply,
): Problem {
  const known = toAppError(error);
  const status = statusOf(known.code);
  if (isForLogOnly(known)) {
    const facts = { request_id: request.id, err: error, code: known.code };
    request.log.error(facts, 'request failed');
  }
  if (status === 502 || status === 503 || status === 429) {
    reply.header('retry-after', String(known.retryAfterSeconds ?? RETRY_AFTER_SECONDS));
  }
  // RFC 9110, section 15.5.2: a 401 response must name the authentication scheme.
  if (status === 401) reply.header('www-authenticate', 'Bearer');
  reply.code(status).header('cache-control', 'no-store');
  return problemOf(known, request.id);
}

const CODE_BY_FASTIFY_CODE: Readonly<Record<string, ErrorCode>> = {
  FST_ERR_CTP_INVALID_JSON_BODY: 'malformed_json',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'malformed_json',
  FST_ERR_CTP_BODY_TOO_LARGE: 'body_too_large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_media_type',
};

function toAppError(error: FastifyError | Error): AppError {
  if (isAppError(error)) return error;
  const cause = error;
  const code =
    ('code' in error ? CODE_BY_FASTIFY_CODE[error.code] : undefined) ??
    (error instanceof SyntaxError ? 'malformed_json' : undefined);
  if (code !== undefined) return new AppError(code, detailOf(code), { cause });
  const status = 'statusCode' in error ? (error.statusCode ?? 500) : 500;
  const isClientError = status >= 400 && status < 500;
  return new AppError(isClientError ? 'invalid_request' : 'internal', error.message, { cause });
}

function detailOf(code: ErrorCode): string {
  if (code === 'body_too_large') return 'The body is larger than this address accepts.';
  if (code === 'unsupported_media_type') return 'Send the body as application/json.';
  return 'The body is not valid JSON.';
}
