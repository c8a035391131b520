import { type BigIntStats, constants } from 'node:fs';
import { type FileHandle, lstat, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { addAbortSignal } from 'node:stream';
import { AppError } from '../../core/errors.ts';
import { parseKey, parsePrefix } from '../key.ts';
import type { ListOptions, ObjectInfo, ObjectStore } from '../object-store.ts';
import { checkCeiling, resolveRange } from '../range.ts';
import { isMissing, storeError, symbolicLink, translate } from './errors.ts';
import { listFiles, statIfPresent } from './list.ts';
import { pathOf } from './names.ts';
import { createFileReader } from './reader.ts';
import { FileStream } from './stream.ts';
import { refuseLinkedDirectory } from './volume.ts';

/**
 * The methods of the directory store that read.
 *
 * @param confirm runs before each answer; throws when the store is gone, or another store is in its place. In these
 *   cases, a missing object was not deleted, and an object that is there belongs to the other store
 */
export function createReader(
  root: string,
  confirm: () => Promise<unknown>,
): Pick<ObjectStore, 'get' | 'read' | 'open' | 'head' | 'list'> {
  /** Throws the error of `confirm` when the store is not there: the failure then says nothing about the object. */
  const refuse = async (error: unknown): Promise<never> => {
    await confirm();
    throw error;
  };

  /** Opens the object's file and passes the file to `run`, which closes the file. */
  async function use<T>(
    key: string,
    signal: AbortSignal | undefined,
    run: (file: FileHandle, info: ObjectInfo) => Promise<T>,
  ): Promise<T | undefined> {
    const path = pathOf(root, parseKey(key));
    signal?.throwIfAborted();
    return translate('read', path, async () => {
      const opened = await openObject(root, path, key).catch(refuse);
      try {
        await confirm();
      } catch (error) {
        await opened?.file.close();
        throw error;
      }
      return opened === undefined ? undefined : run(opened.file, opened.info);
    });
  }

  return {
    get: (key, { range, bytesMax, signal } = {}) =>
      use(key, signal, async (file, info) => {
        try {
          const { start, end } = resolveRange(range, info.size);
          checkCeiling(key, end - start + 1, bytesMax);
          return { ...info, body: await readFully(file, start, end - start + 1) };
        } finally {
          await file.close();
        }
      }),

    read: (key, { range, signal } = {}) =>
      use(key, signal, async (file, info) => {
        try {
          const { start, end } = resolveRange(range, info.size);
          const path = pathOf(root, key);
          const stream = new FileStream(file, { start, length: end - start + 1, path });
          return { ...info, stream: signal ? addAbortSignal(signal, stream) : stream };
        } catch (error) {
          await file.close();
          throw error;
        }
      }),

    open: (key, { signal } = {}) =>
      use(key, signal, async (file, info) => createFileReader(file, info, pathOf(root, key))),

    async head(key, options) {
      const path = pathOf(root, parseKey(key));
      options?.signal?.throwIfAborted();
      return translate('read', path, async () => {
        const info = await describeFile(path, key).catch(refuse);
        if (info !== undefined) await refuseLinkedDirectory(root, dirname(path));
        await confirm();
        return info;
      });
    },

    list: (prefix, options) => listObjects(root, confirm, prefix, options),
  };
}

async function* listObjects(
  root: string,
  confirm: () => Promise<unknown>,
  prefix: string,
  { after, signal }: ListOptions = {},
): AsyncGenerator<ObjectInfo> {
  parsePrefix(prefix);
  try {
    await confirm();
    for await (const { key, path } of listFiles(root, prefix, after)) {
      signal?.throwIfAborted();
      const info = await describeFile(path, key);
      if (info !== undefined) yield info;
    }
    // When the store is not there, the listing may have ended early because the volume was unmounted.
    await confirm();
  } catch (error) {
    throw storeError(error, 'list', root);
  }
}

async function describeFile(path: string, key: string): Promise<ObjectInfo | undefined> {
  const stats = await statIfPresent(path);
  if (stats?.isSymbolicLink()) {
    throw symbolicLink(path);
  }
  return stats?.isFile() ? toInfo(key, stats) : undefined;
}

async function openObject(root: string, path: string, key: string) {
  let file: FileHandle | undefined;
  try {
    // Does not follow a symbolic link, and does not wait for the other end of a named pipe.
    const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
    // Windows does not have O_NOFOLLOW.
    if (O_NOFOLLOW === undefined && (await lstat(path)).isSymbolicLink()) throw symbolicLink(path);
    file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    await refuseLinkedDirectory(root, dirname(path));
    const stats = await file.stat({ bigint: true });
    if (stats.isFile()) return { file, info: toInfo(key, stats) };
  } catch (error) {
    await file?.close();
    if (!isMissing(error)) throw error;
    return undefined;
  }
  await file.close();
  return undefined;
}

function toInfo(key: string, stats: BigIntStats): ObjectInfo {
  // The store never rewrites a file in place, so a new file with this name has another inode or time.
  const etag = `"${[stats.ino, stats.size, stats.mtimeNs].map((n) => n.toString(36)).join('-')}"`;
  return { key, size: Number(stats.size), etag, lastModified: stats.mtime };
}

async function readFully(file: FileHandle, start: number, length: number): Promise<Uint8Array> {
  const body = Buffer.alloc(length);
  let done = 0;
  while (done < length) {
    const { bytesRead } = await file.read(body, done, length - done, start + done);
    if (bytesRead === 0) {
      throw new AppError('store_unavailable', 'A file became shorter while the store read it.');
    }
    done += bytesRead;
  }
  return body;
}
