import { AppError, type ErrorCode } from '../errors.ts';

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
  /** Whether the answer is the 404 of another server: a store answers with XML. */
  readonly isNoStore: boolean;
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
  const code = refusalCode(error, refusal);
  return new AppError(code, `${sentence(code, refusal, call, place)}`, { cause: error });
}

/** Whether the store's error code states that the key is taken. The status 412 alone does not prove it. */
export function isPreconditionFailed(error: unknown): boolean {
  return describe(error).name === 'PreconditionFailed';
}

/**
 * Whether the store's error code states that the object is missing; false for a missing bucket and for a proxy's 404.
 */
export function isMissingObject(error: unknown): boolean {
  return describe(error).name === 'NoSuchKey';
}

/** Whether the answer to a HEAD is a 404. It has no body, so it does not prove that the object is missing. */
export function isNotFound(error: unknown): boolean {
  const { name, isHtml } = describe(error);
  return !isHtml && (name === 'NoSuchKey' || name === 'NotFound');
}

/** Whether the store answered with this error code. */
export function isRefusal(error: unknown, name: string): boolean {
  return describe(error).name === name;
}

function refusalCode(error: unknown, { name, status, isNoStore }: Refusal): ErrorCode {
  // The SDK has taken the store's time from this answer, and signs the next attempt with it.
  if (isRecord(error) && isRecord(error.$metadata) && error.$metadata.clockSkewCorrected === true) {
    return 'store_unavailable';
  }
  const code = CODES[name] ?? (status === undefined ? undefined : CODES_BY_STATUS[status]);
  return code ?? (isNoStore ? 'invalid_configuration' : 'store_unavailable');
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
      return `${asked} failed: ${answer}.`;
  }
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
  { name, isNoStore, status }: Refusal,
  place: S3Place,
  answer: string,
): string {
  const { bucket, address, region } = place;
  if (isNoStore) {
    return `What answers at ${address} is no S3 store: it answered ${status} without XML. Correct S3_ENDPOINT.`;
  }
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
    const none = { isHtml: false, isNoStore: false };
    return { name: '', status: undefined, message: String(error), ...none };
  }
  const metadata = isRecord(error.$metadata) ? error.$metadata : {};
  const response = isRecord(error.$response) ? error.$response : {};
  const headers = isRecord(response.headers) ? response.headers : {};
  // For an answer that is not XML, the SDK's error has no status in its metadata.
  const status = metadata.httpStatusCode ?? response.statusCode;
  const message = typeof error.message === 'string' ? error.message : '';
  const isHtml = String(headers['content-type'] ?? '').includes('html');
  // What the SDK says when an answer is not XML is about the SDK.
  const isUnread = /deserialization error/i.test(message);
  return {
    name: typeof error.name === 'string' ? error.name : '',
    status: typeof status === 'number' ? status : undefined,
    message: message === '' && typeof error.code === 'string' ? error.code : message,
    isHtml,
    isNoStore: status === 404 && (isHtml || isUnread),
  };
}

function isProgramError(error: unknown): boolean {
  const isMistake = [TypeError, ReferenceError, RangeError].some((type) => error instanceof type);
  return isMistake && isRecord(error) && error.$response === undefined && error.code === undefined;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
