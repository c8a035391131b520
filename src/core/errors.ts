/**
 * The error type of the project.
 *
 * A code is stable and says what went wrong; its kind says what the caller should do. Only the HTTP error handler and
 * the command line translate kinds into status and exit codes.
 */

/** The kind of an error says what the caller should do: correct the request, sign in, wait, look at the store, … */
export type ErrorKind =
  | 'invalid'
  | 'unauthenticated'
  | 'forbidden'
  | 'not_found'
  | 'gone'
  | 'already_exists'
  | 'conflict'
  | 'rate_limited'
  | 'not_configured'
  | 'unavailable'
  | 'corrupt'
  | 'internal';

const KIND_BY_CODE = {
  // The request, the command line or the configuration.
  invalid_request: 'invalid',
  malformed_json: 'invalid',
  body_too_large: 'invalid',
  request_timeout: 'invalid',
  unsupported_media_type: 'invalid',
  invalid_configuration: 'invalid',
  invalid_version: 'invalid',
  invalid_range: 'invalid',
  invalid_rollout: 'invalid',
  invalid_name: 'invalid',
  invalid_key: 'invalid',
  range_not_satisfiable: 'invalid',
  precondition_failed: 'invalid',
  headers_too_long: 'invalid',
  unknown_platform: 'invalid',
  unknown_arch: 'invalid',
  unknown_format: 'invalid',
  // The request names something that does not exist, or no longer exists.
  route_not_found: 'not_found',
  method_not_allowed: 'not_found',
  unknown_application: 'not_found',
  unknown_channel: 'not_found',
  unknown_version: 'not_found',
  unknown_file: 'not_found',
  no_release: 'not_found',
  unsupported_platform: 'not_found',
  unsupported_format: 'not_found',
  unknown_account: 'not_found',
  unknown_session: 'not_found',
  unknown_key: 'not_found',
  unknown_invitation: 'not_found',
  unknown_message: 'not_found',
  release_withdrawn: 'gone',
  ended: 'gone',
  // The caller's identity and rights.
  not_signed_in: 'unauthenticated',
  invalid_credentials: 'unauthenticated',
  session_ended: 'unauthenticated',
  email_not_verified: 'forbidden',
  account_locked: 'forbidden',
  not_entitled: 'forbidden',
  scope_missing: 'forbidden',
  request_forgery: 'forbidden',
  read_only: 'forbidden',
  captcha_refused: 'forbidden',
  registration_refused: 'forbidden',
  account_exists: 'already_exists',
  weak_password: 'invalid',
  too_many_requests: 'rate_limited',
  idempotency_key_reused: 'conflict',
  limit_reached: 'conflict',
  // Parts that are not configured, and other services on which this service depends.
  not_configured: 'not_configured',
  captcha_unavailable: 'unavailable',
  identity_provider_unavailable: 'unavailable',
  upstream_unavailable: 'unavailable',
  // A publishing rule refuses the change; nothing was changed.
  invalid_artifact: 'forbidden',
  invalid_link: 'forbidden',
  prerelease_on_stable: 'forbidden',
  needs_create: 'forbidden',
  release_differs: 'conflict',
  version_ambiguous: 'conflict',
  status_forbids: 'conflict',
  state_changed: 'conflict',
  older_version: 'forbidden',
  release_incomplete: 'forbidden',
  clients_stranded: 'forbidden',
  document_too_large: 'conflict',
  store_nonconforming: 'forbidden',
  store_differs: 'conflict',
  // Signing catalogs.
  key_required: 'forbidden',
  root_missing: 'invalid',
  signer_failed: 'unavailable',
  // The store.
  store_denied: 'forbidden',
  store_unavailable: 'unavailable',
  store_full: 'unavailable',
  outcome_unknown: 'unavailable',
  catalog_unavailable: 'unavailable',
  overloaded: 'unavailable',
  upload_mismatch: 'corrupt',
  document_corrupt: 'corrupt',
  document_newer: 'corrupt',
  artifact_mismatch: 'corrupt',
  internal: 'internal',
} as const satisfies Record<string, ErrorKind>;

/** Stable: clients and scripts may branch on it. Messages may change. */
export type ErrorCode = keyof typeof KIND_BY_CODE;

/** Returns the kind of all errors with this code. */
export function kindOf(code: ErrorCode): ErrorKind {
  return KIND_BY_CODE[code];
}

/** The problem of one field; `pointer` is a JSON Pointer (RFC 6901). */
export interface FieldIssue {
  readonly pointer: string;
  readonly detail: string;
}

interface ErrorDetails {
  readonly cause?: unknown;
  /** The fields that are wrong, for `invalid` errors. */
  readonly issues?: readonly FieldIssue[];
  /** Seconds until the caller should try again, for `unavailable` and `rate_limited` errors. */
  readonly retryAfterSeconds?: number;
  /**
   * Replaces the message on the status page. Because that page is public, this text names no host, path, bucket, key or
   * secret.
   */
  readonly publicDetail?: string;
  /** Replaces the message in an import. There, the publisher can copy the files again, but cannot build them again. */
  readonly importDetail?: string;
}

export class AppError extends Error {
  readonly code: ErrorCode;
  readonly kind: ErrorKind;
  readonly issues: readonly FieldIssue[];
  readonly retryAfterSeconds: number | undefined;
  readonly publicDetail: string | undefined;
  readonly importDetail: string | undefined;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'AppError';
    this.code = code;
    this.kind = kindOf(code);
    this.issues = details.issues ?? [];
    this.retryAfterSeconds = details.retryAfterSeconds;
    this.publicDetail = details.publicDetail;
    this.importDetail = details.importDetail;
  }
}

/** True for an AppError. When a code is given, true only for an AppError with this code. */
export function isAppError(error: unknown, code?: ErrorCode): error is AppError {
  return error instanceof AppError && (code === undefined || error.code === code);
}

/** The code of a system error, such as `ENOENT`; undefined for any other error. */
export function systemCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') {
    return undefined;
  }
  return /^E[A-Z0-9]+$/.test(error.code) ? error.code : undefined;
}
