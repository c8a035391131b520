import {
  DeleteObjectCommand,
  GetBucketVersioningCommand,
  GetObjectCommand,
  type GetObjectCommandOutput,
  HeadObjectCommand,
  type HeadObjectCommandOutput,
  ListObjectsV2Command,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import { AppError, isAppError } from '../errors.ts';
import { isKey } from './key.ts';
import type {
  ByteRange,
  CallOptions,
  ObjectInfo,
  ObjectStore,
  ReadOptions,
} from './object-store.ts';
import { checkRange, unsatisfiableRange } from './range.ts';
import { removeAbandonedS3Uploads } from './s3-abandoned.ts';
import { guardBody, readBody } from './s3-body.ts';
import { createS3Connection, type S3Connection, type S3StoreOptions } from './s3-connection.ts';
import { isMissingObject, isPreconditionFailed, isRefusal, toStoreError } from './s3-errors.ts';
import { createS3Presigner } from './s3-presign.ts';
import { uploadToS3 } from './s3-upload.ts';

export type { S3StoreOptions, S3Timeouts } from './s3-connection.ts';

/** A bucket as a store. Does no I/O until it is used; `invalid_configuration` for an endpoint that is no URL. */
export function createS3Store(options: S3StoreOptions): ObjectStore {
  const connection = createS3Connection(options);
  const { client, place, timeouts } = connection;
  const Bucket = place.bucket;
  const where = options.endpoint === undefined ? `aws:${options.region}` : place.address;
  const prefix = connection.fullPrefix('').replace(/\/$/, '');
  const head = (key: string, call?: CallOptions) => headObject(connection, key, call);

  return {
    location: `s3:${where}/${Bucket}${prefix === '' ? '' : `/${prefix}`}`,
    presign: createS3Presigner(connection, options),
    head,
    ...createBodyReader(connection),
    list: (keyPrefix, call) => listObjects(connection, keyPrefix, call),
    upload: (key, source, call = {}) => uploadToS3({ connection, head }, key, source, call),
    keepsVersions: () => keepsVersions(connection),
    removeAbandonedUploads: (before) => removeAbandonedS3Uploads(connection, before),

    async create(key, body, { contentType = 'application/octet-stream', signal } = {}) {
      const Key = connection.fullKey(key);
      const Body = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
      const command = { Bucket, Key, Body, ContentType: contentType, IfNoneMatch: '*' };
      const { writeMs: timeoutMs } = timeouts;
      const request = { method: 'PUT', key: Key, permission: 's3:PutObject', timeoutMs, signal };
      return connection.once(request, async (abortSignal) => {
        try {
          await client.send(new PutObjectCommand(command), { abortSignal });
          return 'created';
        } catch (error) {
          if (isPreconditionFailed(error)) {
            return 'exists';
          }
          throw error;
        }
      });
    },

    async delete(key, { signal } = {}) {
      const Key = connection.fullKey(key);
      const { writeMs: timeoutMs } = timeouts;
      const request = {
        method: 'DELETE',
        key: Key,
        permission: 's3:DeleteObject',
        timeoutMs,
        signal,
      };
      await connection.retrying(request, async (abortSignal) => {
        try {
          await client.send(new DeleteObjectCommand({ Bucket, Key }), { abortSignal });
        } catch (error) {
          if (!isMissingObject(error)) {
            throw error;
          }
        }
      });
    },
  };
}

/** Suspended versioning counts: what was stored before is kept. */
async function keepsVersions(connection: S3Connection): Promise<boolean | undefined> {
  const { client, place, timeouts, retrying } = connection;
  const permission = 's3:GetBucketVersioning';
  const request = { method: 'GET', key: '?versioning', permission, timeoutMs: timeouts.readMs };
  try {
    const command = new GetBucketVersioningCommand({ Bucket: place.bucket });
    const { Status } = await retrying(request, (abortSignal) =>
      client.send(command, { abortSignal }),
    );
    return Status !== undefined;
  } catch (error) {
    // A permission that nothing else needs, and a request that not every store knows.
    if (isAppError(error, 'store_denied') || isAppError(error, 'store_nonconforming')) {
      return undefined;
    }
    throw error;
  }
}

function createBodyReader(connection: S3Connection): Pick<ObjectStore, 'get' | 'read'> {
  const { client, place, timeouts } = connection;

  async function open(key: string, range: ByteRange | undefined, abortSignal: AbortSignal) {
    const Key = connection.fullKey(key);
    const Range = range && `bytes=${range.start}-${range.end ?? ''}`;
    const command = new GetObjectCommand({ Bucket: place.bucket, Key, Range });
    try {
      const output = await client.send(command, { abortSignal });
      return { output, info: toInfo(key, output, range) };
    } catch (error) {
      if (isMissingObject(error)) {
        return undefined;
      }
      throw range !== undefined && isRefusal(error, 'InvalidRange')
        ? unsatisfiableRange(range, undefined)
        : error;
    }
  }

  function describe(key: string, { range, signal }: ReadOptions) {
    if (range !== undefined) {
      checkRange(range);
    }
    const { readMs: timeoutMs } = timeouts;
    const fullKey = connection.fullKey(key);
    return { method: 'GET', key: fullKey, permission: 's3:GetObject', timeoutMs, signal };
  }

  return {
    async get(key, options = {}) {
      return connection.retrying(describe(key, options), async (signal) => {
        const opened = await open(key, options.range, signal);
        if (opened === undefined) {
          return undefined;
        }
        const { output, info } = opened;
        const body = await readBody(output.Body, key, output.ContentLength, options.bytesMax);
        return { ...info, body };
      });
    },

    async read(key, options = {}) {
      const request = describe(key, options);
      // The caller's own signal, not the attempt's, whose time ends with the headers.
      const controller = new AbortController();
      const opened = await connection.retrying(request, (attempt) =>
        open(key, options.range, AbortSignal.any([attempt, controller.signal])),
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
}

async function headObject(
  { client, fullKey, place, retrying, timeouts }: S3Connection,
  key: string,
  { signal }: CallOptions = {},
): Promise<ObjectInfo | undefined> {
  const Key = fullKey(key);
  const { readMs: timeoutMs } = timeouts;
  const request = { method: 'HEAD', key: Key, permission: 's3:GetObject', timeoutMs, signal };
  return retrying(request, async (abortSignal) => {
    try {
      const command = new HeadObjectCommand({ Bucket: place.bucket, Key });
      return toInfo(key, await client.send(command, { abortSignal }), undefined);
    } catch (error) {
      if (isMissingObject(error)) {
        return undefined;
      }
      throw error;
    }
  });
}

async function* listObjects(
  { client, fullPrefix, ownKey, place, retrying, timeouts }: S3Connection,
  keyPrefix: string,
  { signal }: CallOptions = {},
): AsyncGenerator<ObjectInfo> {
  const Prefix = fullPrefix(keyPrefix);
  const { writeMs: timeoutMs } = timeouts;
  const request = { method: 'LIST', key: Prefix, permission: 's3:ListBucket', timeoutMs, signal };
  let ContinuationToken: string | undefined;
  do {
    const page = await retrying(request, (abortSignal) => {
      const input = { Bucket: place.bucket, Prefix, ContinuationToken };
      return client.send(new ListObjectsV2Command(input), { abortSignal });
    });
    for (const { Key = '', Size = 0, ETag = '', LastModified } of page.Contents ?? []) {
      const key = ownKey(Key);
      // Consoles leave keys such as `folder/` behind, which name no object of ours.
      if (isKey(key) && LastModified !== undefined) {
        yield { key, size: Size, etag: ETag, lastModified: LastModified };
      }
    }
    ContinuationToken = page.IsTruncated === true ? page.NextContinuationToken : undefined;
  } while (ContinuationToken !== undefined);
}

function toInfo(
  key: string,
  output: HeadObjectCommandOutput & Pick<GetObjectCommandOutput, 'ContentRange'>,
  range: ByteRange | undefined,
): ObjectInfo {
  const total = /\/(\d+)$/.exec(output.ContentRange ?? '')?.[1];
  const size = range === undefined ? output.ContentLength : total && Number(total);
  if (size === undefined || size === '' || output.LastModified === undefined) {
    throw new AppError(
      'store_unavailable',
      `The store answered for ${key} without its size or date, or ignored the range.`,
    );
  }
  return { key, size, etag: output.ETag ?? '', lastModified: output.LastModified };
}
