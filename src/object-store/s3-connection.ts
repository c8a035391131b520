import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3';
import type { Clock, Randomness } from '../clock.ts';
import { AppError, isAppError } from '../errors.ts';
import { parseKey, parsePrefix } from './key.ts';
import { type S3Call, type S3Place, toStoreError } from './s3-errors.ts';
import { createStoreTime, type StoreTime } from './store-time.ts';

export interface S3StoreOptions {
  readonly bucket: string;
  /** Put before every key, for sharing a bucket; without slashes at its ends. */
  readonly prefix?: string | undefined;
  /** Undefined for AWS itself. */
  readonly endpoint?: string | undefined;
  /** The address URLs are signed for, when clients reach the store under another name. */
  readonly publicEndpoint?: string | undefined;
  readonly region: string;
  readonly forcePathStyle: boolean;
  /** The SDK's default chain (variables, profile, role) unless given. */
  readonly credentials?: S3ClientConfig['credentials'];
  readonly clock: Clock;
  readonly randomness: Randomness;
  /** Milliseconds; those left out keep their defaults. */
  readonly timeouts?: Partial<S3Timeouts>;
}

/** Each for one attempt, in milliseconds. */
export interface S3Timeouts {
  readonly connectMs: number;
  /** To the first byte of the answer to a GET or a HEAD. */
  readonly readMs: number;
  /** Between two pieces of a document that is read into memory. */
  readonly progressMs: number;
  /** A document written, a deletion or a page of a listing. */
  readonly writeMs: number;
  /** One part of a large upload. */
  readonly partMs: number;
  /** Some stores copy all the parts together before they answer. */
  readonly completeMs: number;
  /** Between two chunks of a streamed body. */
  readonly stallMs: number;
}

const DEFAULT_TIMEOUTS: S3Timeouts = {
  connectMs: 2_000,
  readMs: 2_000,
  progressMs: 5_000,
  writeMs: 15_000,
  partMs: 240_000,
  completeMs: 120_000,
  stallMs: 30_000,
};

const ATTEMPTS_MAX = 4;
const BACKOFF_FIRST_MS = 50;
const BACKOFF_MAX_MS = 1_000;
/** Retries beyond one for each success: retries must not make an outage worse. */
const RETRY_BUDGET = 100;
const CREDENTIALS_TIMEOUT_MS = 10_000;

export interface S3Request extends S3Call {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** The first attempt gets a new connection too. */
  readonly fresh?: boolean | undefined;
}

export interface Attempt {
  readonly client: S3Client;
  /** Ends the time-out: the answer has begun, and what follows has a time-out of its own. */
  answered(): void;
}

export type Send<T> = (signal: AbortSignal, attempt: Attempt) => Promise<T>;

/** A bucket, how to reach it, and the rules of time-outs and retries. */
export interface S3Connection {
  readonly client: S3Client;
  readonly place: S3Place;
  readonly timeouts: S3Timeouts;
  readonly time: StoreTime;
  /** The key as the bucket knows it. */
  fullKey(key: string): string;
  fullPrefix(prefix: string): string;
  /** The inverse of `fullKey`. */
  ownKey(fullKey: string): string;
  /** One attempt; for writes whose repetition could be answered differently. */
  once<T>(request: S3Request, send: Send<T>): Promise<T>;
  /**
   * Up to four attempts while the failure is `store_unavailable`; for what may be repeated. Every
   * attempt but the first gets a connection of its own: what answered wrongly is not asked again.
   */
  retrying<T>(request: S3Request, send: Send<T>): Promise<T>;
  /** Waits before attempt `attempt` + 1. */
  backOff(attempt: number, signal: AbortSignal | undefined): Promise<void>;
}

export function createS3Connection(options: S3StoreOptions): S3Connection {
  const timeouts = { ...DEFAULT_TIMEOUTS, ...options.timeouts };
  const place: S3Place = {
    bucket: options.bucket,
    address: parseEndpoint(options.endpoint) ?? `https://s3.${options.region}.amazonaws.com`,
    region: options.region,
  };
  const prefix = parseBucketPrefix(options.prefix);
  const time = createStoreTime(options.clock);
  const client = createS3Client(options, options.endpoint, options.credentials);
  noteDates(client, time);
  const freshClient = createS3Client(options, options.endpoint, client.config.credentials, {
    keepAlive: false,
  });
  noteDates(freshClient, time);
  const resolveCredentials = createCredentialsCheck(client);
  let retriesLeft = RETRY_BUDGET;

  async function once<T>(request: S3Request, send: Send<T>, isFresh = request.fresh === true) {
    const { signal, timeoutMs } = request;
    signal?.throwIfAborted();
    try {
      // Has its own time-out: the first question for a machine's role takes seconds.
      await withDeadline(CREDENTIALS_TIMEOUT_MS, signal, resolveCredentials);
      const attempted = isFresh ? freshClient : client;
      const result = await withDeadline(timeoutMs, signal, (abortSignal, answered) =>
        send(abortSignal, { client: attempted, answered }),
      );
      retriesLeft = Math.min(RETRY_BUDGET, retriesLeft + 1);
      return result;
    } catch (error) {
      signal?.throwIfAborted();
      throw toStoreError(error, request, place);
    }
  }

  async function backOff(attempt: number, signal: AbortSignal | undefined) {
    const ceiling = Math.min(BACKOFF_MAX_MS, BACKOFF_FIRST_MS * 2 ** (attempt - 1));
    await options.clock.sleep(Math.ceil(options.randomness.fraction() * ceiling), signal);
  }

  async function retrying<T>(request: S3Request, send: Send<T>) {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await once(request, send, attempt > 1 || request.fresh === true);
      } catch (error) {
        if (!isAppError(error, 'store_unavailable')) {
          throw error;
        }
        if (attempt === ATTEMPTS_MAX || retriesLeft <= 0) {
          const tried = attempt === 1 ? 'Tried once' : `Tried ${attempt} times`;
          throw new AppError(error.code, `${error.message} ${tried}.`, { cause: error.cause });
        }
        retriesLeft -= 1;
        await backOff(attempt, request.signal);
      }
    }
  }

  return {
    client,
    place,
    timeouts,
    time,
    fullKey: (key) => parseKey(`${prefix}${parseKey(key)}`),
    fullPrefix: (keyPrefix) => `${prefix}${parsePrefix(keyPrefix)}`,
    ownKey: (fullKey) => fullKey.slice(prefix.length),
    once,
    retrying,
    backOff,
  };
}

/**
 * Resolves when the client has credentials. A failure after it once had some is temporary: their source does
 * not answer now. Before that, the configuration is wrong.
 */
function createCredentialsCheck(client: S3Client): () => Promise<void> {
  let hadCredentials = false;
  return async () => {
    try {
      await client.config.credentials();
      hadCredentials = true;
    } catch (error) {
      throw hadCredentials ? new Error(String(error), { cause: error }) : error;
    }
  };
}

/** Notes the store's time from every answer that has the store's request id: a proxy's page has none. */
function noteDates(client: S3Client, time: StoreTime): void {
  client.middlewareStack.add(
    (next) => async (args) => {
      const result = await next(args);
      const { headers = {} } = result.response as { headers?: Record<string, string> };
      if (headers['x-amz-request-id'] !== undefined) time.note(headers.date);
      return result;
    },
    { step: 'deserialize', name: 'noteDates', priority: 'low' },
  );
}

/** A client of the bucket under one of its addresses. */
export function createS3Client(
  options: S3StoreOptions,
  endpoint: string | undefined,
  credentials: S3ClientConfig['credentials'],
  { keepAlive = true } = {},
): S3Client {
  const agent = { keepAlive, maxSockets: 64 };
  const { connectMs } = { ...DEFAULT_TIMEOUTS, ...options.timeouts };
  return new S3Client({
    region: options.region,
    forcePathStyle: options.forcePathStyle,
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(credentials === undefined ? {} : { credentials }),
    // Retries are ours: the SDK's would repeat conditional writes and stop at the headers of a body.
    maxAttempts: 1,
    // Stores other than AWS answer 411 or 501 to the SDK's own trailing checksums.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    // With it the SDK opens a new connection for every part.
    expectContinueHeader: false,
    requestHandler: {
      connectionTimeout: connectMs,
      // A reader may take its time over a body; deadlines and the stall limit are ours.
      socketTimeout: 0,
      httpAgent: agent,
      httpsAgent: agent,
    },
  });
}

/** Origin and path without credentials or a trailing slash; `invalid_configuration` when no URL. */
export function parseEndpoint(endpoint: string | undefined): string | undefined {
  if (endpoint === undefined) {
    return undefined;
  }
  if (!URL.canParse(endpoint) || !/^https?:$/.test(new URL(endpoint).protocol)) {
    throw new AppError(
      'invalid_configuration',
      'S3_ENDPOINT is not a URL such as https://s3.example.org.',
    );
  }
  const { origin, pathname } = new URL(endpoint);
  return `${origin}${pathname}`.replace(/\/+$/, '');
}

function parseBucketPrefix(prefix: string | undefined): string {
  const trimmed = (prefix ?? '').replace(/^\/+|\/+$/g, '');
  return trimmed === '' ? '' : `${parseKey(trimmed)}/`;
}

/** Runs with a signal that also aborts after the time; settles then even if `run` does not. */
async function withDeadline<T>(
  timeoutMs: number,
  outer: AbortSignal | undefined,
  run: (signal: AbortSignal, answered: () => void) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const abort = () => controller.abort(outer?.reason);
  outer?.addEventListener('abort', abort, { once: true });
  const timer = setTimeout(
    () => controller.abort(new Error(`no answer within ${timeoutMs} ms`)),
    timeoutMs,
  );
  const aborted = new Promise<never>((_resolve, reject) => {
    controller.signal.addEventListener('abort', () => reject(controller.signal.reason));
  });
  try {
    return await Promise.race([run(controller.signal, () => clearTimeout(timer)), aborted]);
  } catch (error) {
    const reason: unknown = controller.signal.aborted ? controller.signal.reason : error;
    // Ends what is still running, such as a body that will not be read.
    controller.abort(reason);
    throw reason;
  } finally {
    clearTimeout(timer);
    outer?.removeEventListener('abort', abort);
  }
}
