import { HeadObjectCommand } from '@aws-sdk/client-s3';
import { AppError } from '../../core/errors.ts';
import type { ObjectStore } from '../object-store.ts';
import { isPresent } from '../presence.ts';
import {
  STATIC_MARK,
  type StaticContent,
  type StaticTarget,
} from '../static-target/static-target.ts';
import { createS3Connection, type S3Connection, type S3StoreOptions } from './connection.ts';
import { isNotFound } from './errors.ts';
import { createS3Store } from './s3.ts';
import { putStatic, SHA256_METADATA } from './static-put.ts';

/**
 * Creates a target in a bucket that is served to clients, or in the part of a bucket below a prefix. Sends no requests.
 */
export function createS3StaticTarget(options: S3StoreOptions): StaticTarget {
  const connection = createS3Connection(options);
  const store = createS3Store(options);
  const prefix = connection.fullPrefix('').replace(/\/$/, '');
  const location = `s3://${options.bucket}${prefix === '' ? '' : `/${prefix}`}`;
  /**
   * The sizes of the objects that were there when the target was opened, and of the objects that it has written since.
   */
  const sizes = new Map<string, number>();
  return {
    location,
    keepsNestedPaths: true,
    open: async (onlyReads) => {
      for await (const { key, size } of store.list('')) sizes.set(key, size);
      if (sizes.size > 0 && !sizes.has(STATIC_MARK)) throw refuse(location, sizes);
      if (!onlyReads) await store.create(STATIC_MARK, MARK, { contentType: 'application/json' });
      sizes.delete(STATIC_MARK);
      return [...sizes.keys()];
    },
    has: async (path, { size, sha256 }) =>
      sizes.get(path) === size && (await writtenSha256(connection, store, path)) === sha256,
    put: async (path, source, facts, twin) => {
      const key = connection.fullKey(path);
      const twinKey = twin === undefined ? undefined : connection.fullKey(twin);
      await putStatic(connection, { key, source, facts }, twinKey);
      sizes.set(path, source.size);
    },
    remove: (path) => removeWritten(connection, store, path),
    close: async () => {},
  };
}

const MARK = Buffer.from('{"made_by":"slipway export","schema_version":1}\n');

/** The hash of the bytes that an export wrote; undefined for any other object. */
async function writtenSha256(
  connection: S3Connection,
  store: Pick<ObjectStore, 'get'>,
  path: string,
): Promise<StaticContent['sha256'] | undefined> {
  const key = connection.fullKey(path);
  const { readMs: timeoutMs } = connection.timeouts;
  const request = { method: 'HEAD', key, permission: 's3:GetObject', timeoutMs };
  return connection.retrying(request, async (abortSignal, { client }) => {
    const command = new HeadObjectCommand({ Bucket: connection.place.bucket, Key: key });
    try {
      return (await client.send(command, { abortSignal })).Metadata?.[SHA256_METADATA];
    } catch (error) {
      // A 404 to a HEAD may also come from another server, so a GET must prove that the object is missing.
      if (isNotFound(error) && !(await isPresent(store, path, { fresh: true }))) return undefined;
      throw error;
    }
  });
}

async function removeWritten(
  connection: S3Connection,
  store: Pick<ObjectStore, 'delete' | 'get'>,
  path: string,
): Promise<boolean> {
  if ((await writtenSha256(connection, store, path)) === undefined) return false;
  await store.delete(path);
  return true;
}

function refuse(location: string, sizes: ReadonlyMap<string, number>): AppError {
  const [first] = [...sizes.keys()].sort();
  return new AppError(
    'invalid_configuration',
    `${location} has objects that no export has written, such as ${JSON.stringify(first)}. Name an empty bucket, or a prefix without objects.`,
  );
}
