import { AppError, type ErrorCode } from '../../core/errors.ts';
import { isRecord } from '../../core/json-record.ts';

/** A request, for messages. */
export interface S3Call {
  readonly method: string;
  /** The key in the bucket, prefix included; empty for the bucket itself. */
  readonly key: string;
  /** The permission that the request needs, such as `s3:PutObject`. */
  readonly permission: string;
}

export interface S3Place {
  readonly bucket: string;
  /** The endpoint's address, without secrets. */
  readonly address: string;
  readonly region: string;
}

interface Refusal {
  readonly name: string;
  readonly status: number | undefined;
  readonly message: string;
  readonly isHtml: boolean;
  /**
   * True when the answer has the error document of a store, which is XML with a code. Answers to HEAD never have this
   * document.
   */
  readonly hasDocument: boolean;
}

const CODES: Readonly<Record<string, ErrorCode>> = {
  NoSuchBucket: 'invalid_configuration',
  InvalidBucketName: 'invalid_configuration',
  PermanentRedirect: 'invalid_configuration',
  AuthorizationHeaderMalformed: 'invalid_configuration',
  CredentialsProviderError: 'invalid_configuration',
  NotImplemented: 'store_nonconforming',
  QuotaExceeded: 'store_full',
  InsufficientStorage: 'store_full',
  XMinioStorageFull: 'store_full',
  XMinioAdminBucketQuotaExceeded: 'store_full',
};

const CODES_BY_STATUS: Readonly<Record<number, ErrorCode>> = {
  301: 'invalid_configuration',
  401: 'store_denied',
  403: 'store_denied',
  501: 'store_nonconforming',
  507: 'store_full',
};

/** Translates an error of the SDK. Returns AppErrors, and errors in this program, unchanged. */
export function toStoreError(error: unknown, call: S3Call, place: S3Place): unknown {
  if (error instanceof AppError || isProgramError(error)) {
    return error;
  }
  const refusal = describe(error);
  const code = refusalCode(error, refusal, call);
  return new AppError(code, `${sentence(code, refusal, call, place)}`, { cause: error });
}

/** True when the store's error code states that the key is taken. The status 412 alone does not prove it. */
export function isPreconditionFailed(error: unknown): boolean {
  return describe(error).name === 'PreconditionFailed';
}

/**
 * True when the store's error code states that the object is missing; false for a missing bucket and for a proxy's 404.
 */
export function isMissingObject(error: unknown): boolean {
  return describe(error).name === 'NoSuchKey';
}

/**
 * True when the answer says nothing about the store: it came from a proxy or another server, or from a store that does
 * not know the bucket. Another attempt over a new connection may reach the right server.
 */
export function isDoubtful(error: unknown): boolean {
  const { name, status, hasDocument } = describe(error);
  return status !== undefined && (!hasDocument || name === 'NoSuchBucket');
}

/**
 * True when the answer to a HEAD is a 404. This answer has no body, so it does not prove that the object is missing.
 */
export function isNotFound(error: unknown): boolean {
  const { name, isHtml } = describe(error);
  return !isHtml && (name === 'NoSuchKey' || name === 'NotFound');
}

/** True when the store answered with this error code. */
export function isRefusal(error: unknown, name: string): boolean {
  return describe(error).name === name;
}

function refusalCode(error: unknown, refusal: Refusal, { method }: S3Call): ErrorCode {
  const { name, status } = refusal;
  // The SDK has taken the store's time from this answer, and signs the next attempt with it.
  if (isRecord(error) && isRecord(error.$metadata) && error.$metadata.clockSkewCorrected === true) {
    return 'store_unavailable';
  }
  const named = CODES[name];
  if (named !== undefined || status === undefined) return named ?? 'store_unavailable';
  if (isForeign(refusal, method)) return 'store_unavailable';
  return CODES_BY_STATUS[status] ?? 'store_unavailable';
}

/**
 * True when the answer is certainly not the store's. An answer to a HEAD never has a document, so for a HEAD only the
 * content type of a page proves this.
 */
function isForeign({ status, hasDocument, isHtml }: Refusal, method: string): boolean {
  return status !== undefined && !hasDocument && (method !== 'HEAD' || isHtml);
}

function sentence(code: ErrorCode, refusal: Refusal, call: S3Call, place: S3Place): string {
  const asked = `${call.method} ${place.bucket}/${call.key} at ${place.address}`;
  const answer = refusal.status === undefined ? refusal.message : answered(refusal);
  switch (code) {
    case 'store_denied':
      return `The store refused ${asked} (${answer}): ${denial(refusal.name, call)}`;
    case 'store_full':
      return `The store has no room for ${asked} (${answer}). Free space or raise the quota.`;
    case 'store_nonconforming':
      return `The store at ${place.address} does not implement what ${asked} needs (${answer}): conditional writes (If-None-Match: *). AWS S3, Cloudflare R2, Ceph RGW and VersityGW implement them.`;
    case 'invalid_configuration':
      return configurationSentence(refusal, place, answer);
    default:
      return isForeign(refusal, call.method)
        ? `${asked} failed: the answer ${refusal.status} has no error document of a store, so a proxy or another server gave it. Check S3_ENDPOINT and the proxies on the way.`
        : `${asked} failed: ${answer}.${unreachable(answer)}`;
  }
}

/** Says what to do when no server answers at the address. */
function unreachable(answer: string): string {
  if (/\bECONNREFUSED\b/.test(answer))
    return ' No program listens there: start the store, or correct S3_ENDPOINT.';
  return /\bENOTFOUND\b/.test(answer)
    ? ' The host name has no address: correct S3_ENDPOINT, or the name service of this machine.'
    : '';
}

function denial(name: string, call: S3Call): string {
  if (['InvalidAccessKeyId', 'SignatureDoesNotMatch', 'InvalidClientTokenId'].includes(name)) {
    return 'it does not know the access key, or the secret key does not belong to it. Check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.';
  }
  if (['ExpiredToken', 'InvalidToken', 'TokenRefreshRequired'].includes(name)) {
    return 'the session token has expired or is invalid. Renew the credentials.';
  }
  if (name === 'RequestTimeTooSkewed') {
    return "this machine's clock differs from the store's by more than 15 minutes. Correct it.";
  }
  if (call.method === 'GET' || call.method === 'HEAD') {
    return `the credentials are wrong, or need ${call.permission}, and s3:ListBucket on the bucket: without s3:ListBucket the store also answers like this for a missing object.`;
  }
  return `the credentials are wrong, or need ${call.permission}.`;
}

function configurationSentence(
  { name }: Refusal,
  { bucket, address, region }: S3Place,
  answer: string,
): string {
  switch (name) {
    case 'CredentialsProviderError':
      return `No credentials for ${address} were found: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, or give the machine a role (${answer}).`;
    case 'NoSuchBucket':
    case 'InvalidBucketName':
      return `There is no bucket ${bucket} at ${address}. Create it, or correct S3_BUCKET and S3_ENDPOINT.`;
    default:
      return `The bucket ${bucket} is not served from ${address} in region ${region} (${answer}). Correct S3_REGION and S3_ENDPOINT.`;
  }
}

function answered({ name, status, message }: Refusal): string {
  const parts = [`answered ${status}`, name];
  if (message !== '' && message !== 'UnknownError' && message !== name) {
    parts.push(message);
  }
  return parts.join(' ');
}

function describe(error: unknown): Refusal {
  if (!isRecord(error)) {
    const none = { isHtml: false, hasDocument: false };
    return { name: '', status: undefined, message: String(error), ...none };
  }
  const metadata = isRecord(error.$metadata) ? error.$metadata : {};
  const response = isRecord(error.$response) ? error.$response : {};
  const headers = isRecord(response.headers) ? response.headers : {};
  // For an answer that is not XML, the SDK's error has no status in its metadata.
  const status = metadata.httpStatusCode ?? response.statusCode;
  const message = typeof error.message === 'string' ? error.message : '';
  return {
    name: typeof error.name === 'string' ? error.name : '',
    status: typeof status === 'number' ? status : undefined,
    message: message === '' && typeof error.code === 'string' ? error.code : message,
    isHtml: String(headers['content-type'] ?? '').includes('html'),
    // The SDK takes this code only from the document. It invents a name for answers without a document.
    hasDocument: typeof error.Code === 'string' && error.Code !== '',
  };
}

function isProgramError(error: unknown): boolean {
  const isMistake = [TypeError, ReferenceError, RangeError].some((type) => error instanceof type);
  return isMistake && isRecord(error) && error.$response === undefined && error.code === undefined;
}
