import {
  DeleteObjectCommand,
  GetBucketVersioningCommand,
  ListObjectsV2Command,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import { AppError, isAppError } from '../../core/errors.ts';
import { isKey } from '../key.ts';
import type { ListOptions, ObjectInfo, ObjectStore } from '../object-store.ts';
import { isPresent } from '../presence.ts';
import { removeAbandonedS3Uploads } from './abandoned.ts';
import {
  ATTEMPTS_MAX,
  createS3Connection,
  type S3Connection,
  type S3StoreOptions,
} from './connection.ts';
import { isDoubtful, isMissingObject, isPreconditionFailed } from './errors.ts';
import { agreesWithEtag } from './etag.ts';
import { createS3Presigner } from './presign.ts';
import { createS3Reader } from './read.ts';
import { uploadToS3 } from './upload.ts';

export type { S3StoreOptions } from './connection.ts';

/** Creates a store in a bucket, without any I/O. Throws `invalid_configuration` for an endpoint that is no URL. */
export function createS3Store(options: S3StoreOptions): ObjectStore {
  const connection = createS3Connection(options);
  const { place, timeouts } = connection;
  const Bucket = place.bucket;
  const where = options.endpoint === undefined ? `aws:${options.region}` : place.address;
  const prefix = connection.fullPrefix('').replace(/\/$/, '');
  const reader = createS3Reader(connection);

  return {
    location: `s3:${where}/${Bucket}${prefix === '' ? '' : `/${prefix}`}`,
    listsInPages: true,
    clockOffsetMs: () => connection.time.offsetMs(),
    presign: createS3Presigner(connection, options),
    ...reader,
    list: (keyPrefix, call) => listObjects(connection, keyPrefix, call),
    upload: (key, source, call = {}) => uploadToS3({ connection, reader }, key, source, call),
    keepsVersions: () => keepsVersions(connection),
    removeAbandonedUploads: (before) => removeAbandonedS3Uploads(connection, before),

    async create(key, body, { contentType = 'application/octet-stream', signal } = {}) {
      const Key = connection.fullKey(key);
      const Body = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
      const command = { Bucket, Key, Body, ContentType: contentType, IfNoneMatch: '*' };
      const { writeMs: timeoutMs } = timeouts;
      const request = { method: 'PUT', key: Key, permission: 's3:PutObject', timeoutMs, signal };
      for (let attempt = 1; ; attempt += 1) {
        const fresh = attempt > 1;
        const outcome = await connection.once(
          { ...request, fresh },
          async (abortSignal, { client }) => {
            try {
              const answer = await client.send(new PutObjectCommand(command), { abortSignal });
              const isOurs = answer.ETag !== undefined && agreesWithEtag(Body, answer) !== false;
              return isOurs ? 'created' : 'unclear';
            } catch (error) {
              if (isDoubtful(error)) return 'unclear';
              // An earlier request of this call, whose answer was lost, may have created the object.
              if (isPreconditionFailed(error)) return fresh ? 'unclear' : 'exists';
              throw error;
            }
          },
        );
        if (outcome !== 'unclear') return outcome;
        const settled = await settleCreated(reader, key, Body, signal);
        if (settled !== undefined) return settled;
        if (attempt === ATTEMPTS_MAX) throw notStored(key);
        await connection.backOff(attempt, signal);
      }
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
      await connection.retrying(request, async (abortSignal, { client }) => {
        try {
          const answer = await client.send(new DeleteObjectCommand({ Bucket, Key }), {
            abortSignal,
          });
          // An answer without a body proves nothing unless it has the store's request id. Some stores send no such id.
          if (answer.$metadata.requestId !== undefined) return;
          if (await isPresent(reader, key, { fresh: true })) throw notDeleted(key);
        } catch (error) {
          if (!isMissingObject(error)) {
            throw error;
          }
        }
      });
    },
  };
}

/**
 * Reads the object back, because the answer to the PUT did not have the ETag of these bytes, or did not come from the
 * store. Undefined when nothing is stored under the key.
 */
async function settleCreated(
  reader: Pick<ObjectStore, 'get'>,
  key: string,
  bytes: Uint8Array,
  signal: AbortSignal | undefined,
): Promise<'created' | 'exists' | undefined> {
  const stored = await reader.get(key, { fresh: true, signal });
  if (stored === undefined) return undefined;
  return Buffer.compare(stored.body, bytes) === 0 ? 'created' : 'exists';
}

function notStored(key: string): AppError {
  return new AppError(
    'store_unavailable',
    `The PUT of ${key} was answered ${ATTEMPTS_MAX} times, but no object is stored: the answers did not come from the store. Check S3_ENDPOINT and the proxies on the way.`,
  );
}

function notDeleted(key: string): AppError {
  return new AppError(
    'store_unavailable',
    `The DELETE of ${key} was answered, but the object is still stored: the answer did not come from the store. Check S3_ENDPOINT and the proxies on the way.`,
  );
}

/** Also true when versioning is suspended, because the bucket still holds older versions. */
async function keepsVersions(connection: S3Connection): Promise<boolean | undefined> {
  const { place, timeouts, retrying } = connection;
  const permission = 's3:GetBucketVersioning';
  const request = { method: 'GET', key: '?versioning', permission, timeoutMs: timeouts.readMs };
  try {
    const command = new GetBucketVersioningCommand({ Bucket: place.bucket });
    const { Status } = await retrying(request, (abortSignal, { client }) =>
      client.send(command, { abortSignal }),
    );
    return Status !== undefined;
  } catch (error) {
    // This is no failure: no other request needs this permission, and some stores do not implement this request.
    if (isAppError(error, 'store_denied') || isAppError(error, 'store_nonconforming')) {
      return undefined;
    }
    throw error;
  }
}

async function* listObjects(
  { fullKey, fullPrefix, ownKey, place, retrying, timeouts }: S3Connection,
  keyPrefix: string,
  { signal, after }: ListOptions = {},
): AsyncGenerator<ObjectInfo> {
  const Prefix = fullPrefix(keyPrefix);
  const StartAfter = after === undefined ? undefined : fullKey(after);
  const { writeMs: timeoutMs } = timeouts;
  const request = { method: 'LIST', key: Prefix, permission: 's3:ListBucket', timeoutMs, signal };
  let ContinuationToken: string | undefined;
  do {
    const page = await retrying(request, async (abortSignal, { client }) => {
      const input = { Bucket: place.bucket, Prefix, StartAfter, ContinuationToken };
      const answer = await client.send(new ListObjectsV2Command(input), { abortSignal });
      if (answer.Name === place.bucket && (answer.Prefix ?? '') === Prefix) return answer;
      throw new AppError(
        'store_unavailable',
        `The answer to the listing of ${place.bucket}/${Prefix} names another bucket or prefix: it did not come from the store. Check S3_ENDPOINT and the proxies on the way.`,
      );
    });
    for (const { Key = '', Size = 0, ETag = '', LastModified } of page.Contents ?? []) {
      const key = ownKey(Key);
      // Skips keys such as `folder/`, which the web consoles of stores create.
      if (isKey(key) && LastModified !== undefined) {
        yield { key, size: Size, etag: ETag, lastModified: LastModified };
      }
    }
    ContinuationToken = page.IsTruncated === true ? page.NextContinuationToken : undefined;
  } while (ContinuationToken !== undefined);
}
