import {
  GetObjectCommand,
  type GetObjectCommandOutput,
  HeadObjectCommand,
  type HeadObjectCommandOutput,
} from '@aws-sdk/client-s3';
import { AppError, isAppError } from '../../core/errors.ts';
import type {
  ByteRange,
  CallOptions,
  GetOptions,
  ObjectInfo,
  ObjectReader,
  ObjectStore,
} from '../object-store.ts';
import { checkRange, checkWithin, unsatisfiableRange } from '../range.ts';
import { fillFromBody, guardBody, readBody } from './body.ts';
import type { Attempt, S3Connection } from './connection.ts';
import { isMissingObject, isNotFound, isRefusal, toStoreError } from './errors.ts';
import { agreesWithEtag } from './etag.ts';
import { createQuickReads } from './quick-read.ts';

/** The methods of the store that read single objects. */
export function createS3Reader(
  connection: S3Connection,
): Pick<ObjectStore, 'get' | 'read' | 'open' | 'head'> {
  const { place, timeouts } = connection;

  function describe(key: string, { range, signal, fresh }: GetOptions) {
    if (range !== undefined) {
      checkRange(range);
    }
    const { readMs: timeoutMs } = timeouts;
    const fullKey = connection.fullKey(key);
    return { method: 'GET', key: fullKey, permission: 's3:GetObject', timeoutMs, signal, fresh };
  }

  const head: ObjectStore['head'] = async (key, options) =>
    (await headObject(connection, key, options)) ??
    (await findByReading(reader, key, options?.signal));

  const openQuick = createQuickReads({
    client: connection.client,
    bucket: place.bucket,
    idleMs: timeouts.readMs,
  });
  const reader: ReturnType<typeof createS3Reader> = {
    head,

    async open(key, { signal } = {}) {
      const info = await head(key, { signal });
      return info === undefined ? undefined : openObject(connection, info, openQuick);
    },

    async get(key, options = {}) {
      let suspected: Uint8Array | undefined;
      return connection.retrying(describe(key, options), async (signal, attempt) => {
        const opened = await openBody(connection, key, options.range, signal, attempt);
        if (opened === undefined) {
          return undefined;
        }
        const { output, info } = opened;
        const { ContentLength } = output;
        const { progressMs } = timeouts;
        const body = await readBody(output.Body, key, ContentLength, options.bytesMax, progressMs);
        // When two connections deliver the same bytes, the bytes are right, and this store's ETag is not an MD5.
        const isSuspect = options.range === undefined && agreesWithEtag(body, output) === false;
        if (isSuspect && (suspected === undefined || Buffer.compare(suspected, body) !== 0)) {
          suspected = body;
          throw new AppError('store_unavailable', `The bytes of ${key} do not match their ETag.`);
        }
        return { ...info, body };
      });
    },

    async read(key, options = {}) {
      const request = describe(key, options);
      // The body needs another signal, because the attempt's signal has no effect after the headers.
      const controller = new AbortController();
      const opened = await connection.retrying(request, (signal, attempt) =>
        openBody(
          connection,
          key,
          options.range,
          AbortSignal.any([signal, controller.signal]),
          attempt,
        ),
      );
      if (opened === undefined) {
        return undefined;
      }
      const stream = guardBody(opened.output.Body, timeouts.stallMs, (error) =>
        toStoreError(error, request, place),
      );
      const abort = () => stream.destroy(options.signal?.reason);
      options.signal?.addEventListener('abort', abort, { once: true });
      stream.once('close', () => {
        options.signal?.removeEventListener('abort', abort);
        controller.abort();
      });
      return { ...opened.info, stream };
    },
  };
  return reader;
}

/** Looks for an object after a HEAD got 404, which does not prove that the object is missing. */
async function findByReading(
  reader: Pick<ObjectStore, 'get'>,
  key: string,
  signal: AbortSignal | undefined,
): Promise<ObjectInfo | undefined> {
  const options = { fresh: true, signal };
  const found = await reader
    .get(key, { ...options, range: { start: 0, end: 0 } })
    .catch((error: unknown) => {
      // An empty object has no first byte.
      if (isAppError(error, 'invalid_range')) return reader.get(key, options);
      throw error;
    });
  if (found === undefined) return undefined;
  const { body: _firstByte, ...info } = found;
  return info;
}

/** Reads pieces of one version of an object, each piece with its own request. */
function openObject(
  connection: S3Connection,
  info: ObjectInfo,
  openQuick: ReturnType<typeof createQuickReads>,
): ObjectReader {
  const { timeouts } = connection;
  const { key, size, etag } = info;
  const request = {
    method: 'GET',
    key: connection.fullKey(key),
    permission: 's3:GetObject',
    timeoutMs: timeouts.readMs,
  };
  const readQuickly = openQuick(request.key, info);
  let isQuick = true;
  return {
    info,
    async read(target, start, { signal } = {}) {
      signal?.throwIfAborted();
      checkWithin(start, target.length, size);
      if (target.length === 0) return;
      if (isQuick && (await readQuickly(target, start, signal))) return;
      signal?.throwIfAborted();
      isQuick = false;
      const range = { start, end: start + target.length - 1 };
      await connection.retrying({ ...request, signal }, async (attemptSignal, attempt) => {
        const opened = await openBody(connection, key, range, attemptSignal, attempt).catch(
          // The opened version has this range. An object without this range is another version, which the check below
          // refuses.
          (error: unknown) => {
            if (!isAppError(error, 'invalid_range')) throw error;
          },
        );
        // Ceph RGW refuses If-Match with a quoted ETag, so the answer's ETag is compared instead.
        if (opened?.info.etag !== etag || opened.info.size !== size) {
          throw new AppError(
            'store_unavailable',
            `${key} was deleted or replaced while it was read.`,
          );
        }
        const { progressMs } = timeouts;
        await fillFromBody(opened.output.Body, target, { key, progressMs, signal: attemptSignal });
      });
    },
    close: async () => {},
  };
}

/** Sends the GET. Resolves with the unread body; with undefined when the store has no such object. */
async function openBody(
  { fullKey, place }: S3Connection,
  key: string,
  range: ByteRange | undefined,
  abortSignal: AbortSignal,
  { client, answered }: Attempt,
) {
  const Range = range && `bytes=${range.start}-${range.end ?? ''}`;
  const command = new GetObjectCommand({ Bucket: place.bucket, Key: fullKey(key), Range });
  try {
    const output = await client.send(command, { abortSignal });
    answered();
    return { output, info: toInfo(key, output, range) };
  } catch (error) {
    if (isMissingObject(error)) return undefined;
    throw range !== undefined && isRefusal(error, 'InvalidRange')
      ? unsatisfiableRange(range, undefined)
      : error;
  }
}

async function headObject(
  { fullKey, place, retrying, timeouts }: S3Connection,
  key: string,
  { signal }: CallOptions = {},
): Promise<ObjectInfo | undefined> {
  const Key = fullKey(key);
  const { readMs: timeoutMs } = timeouts;
  const request = { method: 'HEAD', key: Key, permission: 's3:GetObject', timeoutMs, signal };
  return retrying(request, async (abortSignal, { client }) => {
    try {
      const command = new HeadObjectCommand({ Bucket: place.bucket, Key });
      return toInfo(key, await client.send(command, { abortSignal }), undefined);
    } catch (error) {
      if (isNotFound(error)) {
        return undefined;
      }
      throw error;
    }
  });
}

function toInfo(
  key: string,
  output: HeadObjectCommandOutput & Pick<GetObjectCommandOutput, 'ContentRange'>,
  range: ByteRange | undefined,
): ObjectInfo {
  const { ETag: etag, LastModified: lastModified } = output;
  const total = /\/(\d+)$/.exec(output.ContentRange ?? '')?.[1];
  const size = range === undefined ? output.ContentLength : Number(total ?? Number.NaN);
  if (size === undefined || Number.isNaN(size) || !etag || lastModified === undefined) {
    throw new AppError(
      'store_unavailable',
      `The answer for ${key} has no size, date or ETag, or ignores the range: it did not come from the store. Check S3_ENDPOINT and the proxies on the way.`,
    );
  }
  return { key, size, etag, lastModified };
}
