import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3';
import type { Clock, Randomness } from '../../core/clock.ts';
import { AppError, isAppError } from '../../core/errors.ts';
import { parseKey, parsePrefix } from '../key.ts';
import { createStoreTime, type StoreTime } from '../store-time.ts';
import { isDoubtful, type S3Call, type S3Place, toStoreError } from './errors.ts';

export interface S3StoreOptions {
  readonly bucket: string;
  /**
   * The store puts this prefix before every key, so that several stores can share a bucket. Slashes at its ends have no
   * effect.
   */
  readonly prefix?: string | undefined;
  /** Undefined when the store is AWS itself. */
  readonly endpoint?: string | undefined;
  /**
   * True: without `endpoint`, the store is AWS itself. False: without `endpoint`, the SDK takes an endpoint from
   * `AWS_ENDPOINT_URL` or from its profile.
   */
  readonly ignoresConfiguredEndpoint?: boolean;
  /** The address for presigned URLs, when clients reach the store at another address than this process. */
  readonly publicEndpoint?: string | undefined;
  readonly region: string;
  readonly forcePathStyle: boolean;
  /** Default: the SDK's chain (environment variables, profile, role). */
  readonly credentials?: S3ClientConfig['credentials'];
  readonly clock: Clock;
  readonly randomness: Randomness;
  /** In milliseconds; a timeout that is not given has its default. */
  readonly timeouts?: Partial<S3Timeouts>;
}

/** Timeouts of one attempt, in milliseconds. */
interface S3Timeouts {
  readonly connectMs: number;
  /** To the first byte of the answer to a GET or a HEAD. */
  readonly readMs: number;
  /** Between two chunks of a document that is read into memory. */
  readonly progressMs: number;
  /** To write or delete an object, or to list one page. */
  readonly writeMs: number;
  /** To send one part of a large upload. */
  readonly partMs: number;
  /** To complete a large upload. Some stores first copy all parts into one object. */
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

export const ATTEMPTS_MAX = 4;
const BACKOFF_FIRST_MS = 50;
const BACKOFF_MAX_MS = 1_000;
/**
 * The number of retries that are available at first: a retry uses one, and a success gives one back. The limit exists
 * because unlimited retries would make an outage worse.
 */
const RETRY_BUDGET = 100;
const CREDENTIALS_TIMEOUT_MS = 10_000;

interface S3Request extends S3Call {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** True when the first attempt uses a new connection, as later attempts always do. */
  readonly fresh?: boolean | undefined;
}

export interface Attempt {
  readonly client: S3Client;
  /** Ends the timeout, because the answer has begun; reading its body has another timeout. */
  answered(): void;
}

type Send<T> = (signal: AbortSignal, attempt: Attempt) => Promise<T>;

/** A bucket with its clients, timeouts and retries. */
export interface S3Connection {
  readonly client: S3Client;
  readonly place: S3Place;
  readonly timeouts: S3Timeouts;
  readonly time: StoreTime;
  /** The key in the bucket, prefix included. */
  fullKey(key: string): string;
  fullPrefix(prefix: string): string;
  /** The inverse of `fullKey`. */
  ownKey(fullKey: string): string;
  /** Makes one attempt. Callers use it for writes that may have another outcome when they are repeated. */
  once<T>(request: S3Request, send: Send<T>): Promise<T>;
  /**
   * Makes up to four attempts while the failure is `store_unavailable` or the answer is doubtful. Callers use it only
   * for requests that may be repeated. Every attempt but the first uses a new connection, so that it may reach another
   * server or proxy.
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
  const clients = createClients(options, time);
  const resolveCredentials = createCredentialsCheck(clients.usual);
  let retriesLeft = RETRY_BUDGET;

  async function once<T>(request: S3Request, send: Send<T>, isFresh = request.fresh === true) {
    const { signal, timeoutMs } = request;
    signal?.throwIfAborted();
    try {
      // The credentials have their own timeout, because the first request for the credentials of a machine's role takes
      // seconds.
      await withDeadline(CREDENTIALS_TIMEOUT_MS, signal, resolveCredentials);
      const client = isFresh ? clients.fresh() : clients.usual;
      const result = await withDeadline(timeoutMs, signal, (abortSignal, answered) =>
        send(abortSignal, { client, answered }),
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
        if (!isWorthRetrying(error)) {
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
    client: clients.usual,
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

/** True when another attempt over a new connection may succeed. */
export function isWorthRetrying(error: unknown): error is AppError {
  return isAppError(error) && (error.code === 'store_unavailable' || isDoubtful(error.cause));
}

/**
 * Creates the two clients. The client `fresh` opens a new connection for every request; it is created only when a
 * request needs it, which is rare.
 */
function createClients(options: S3StoreOptions, time: StoreTime) {
  const create = (credentials: S3ClientConfig['credentials'], keepAlive: boolean): S3Client => {
    const client = createS3Client(options, options.endpoint, credentials, { keepAlive });
    noteDates(client, time);
    refusePages(client);
    return client;
  };
  const usual = create(options.credentials, true);
  let fresh: S3Client | undefined;
  return {
    usual,
    fresh: (): S3Client => {
      fresh ??= create(usual.config.credentials, false);
      return fresh;
    },
  };
}

/**
 * Resolves when the client has credentials. A failure after an earlier success is temporary: the source of
 * the credentials does not answer. A failure before any success means a wrong configuration.
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

/** Records the date of every answer that has the store's request id, which a proxy's page does not have. */
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

/**
 * Refuses a page that a proxy sends with a status of success: the SDK would take it for the store's answer. Does not
 * check answers with single objects, because an object may be a page itself; for objects, the callers compare the ETag.
 */
function refusePages(client: S3Client): void {
  client.middlewareStack.add(
    (next, { commandName = '' }) =>
      async (args) => {
        const result = await next(args);
        const { statusCode, headers = {} } = result.response as {
          statusCode: number;
          headers?: Record<string, string>;
        };
        const isPage = String(headers['content-type'] ?? '').includes('html');
        if (statusCode < 300 && isPage && !/^(Get|Head|Put)Object/.test(commandName)) {
          throw new AppError(
            'store_unavailable',
            `The answer ${statusCode} to ${commandName} did not come from the store. Check S3_ENDPOINT and the proxies on the way.`,
          );
        }
        return result;
      },
    { step: 'deserialize', name: 'refusePages', priority: 'low' },
  );
}

/** Creates a client of the store at one of its addresses. */
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
    ignoreConfiguredEndpointUrls: options.ignoresConfiguredEndpoint === true,
    ...(credentials === undefined ? {} : { credentials }),
    // `retrying` retries instead: the SDK would repeat conditional writes, and not retry a broken body.
    maxAttempts: 1,
    // Stores other than AWS answer 411 or 501 to the SDK's own trailing checksums.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    // With this header, the SDK opens a new connection for every part.
    expectContinueHeader: false,
    requestHandler: {
      connectionTimeout: connectMs,
      // A client may read a body slowly; `withDeadline` and `guardBody` detect a stalled store.
      socketTimeout: 0,
      httpAgent: agent,
      httpsAgent: agent,
    },
  });
}

/**
 * The endpoint's origin and path, without credentials or a trailing slash; throws `invalid_configuration` when it is
 * not a URL.
 */
function parseEndpoint(endpoint: string | undefined): string | undefined {
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

/** Runs `run` with a signal that aborts after the timeout. After the timeout, rejects even if `run` does not settle. */
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
    // Stops requests that still run, such as a request with an unread body.
    controller.abort(reason);
    throw reason;
  } finally {
    clearTimeout(timer);
    outer?.removeEventListener('abort', abort);
  }
}
