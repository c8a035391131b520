import type { FileHandle } from 'node:fs/promises';
import { resolve } from 'node:path';
import { isAppError } from '../../core/errors.ts';
import { parseKey } from '../key.ts';
import type { ObjectStore, PresignedUrl, PresignRequest } from '../object-store.ts';
import { checkDirectory } from './check.ts';
import { copyToFile } from './copy.ts';
import { translate } from './errors.ts';
import { createIdentityGuard, type IdentityGuard, type KnownStore } from './identity.ts';
import { listTemporaryFiles, statIfPresent } from './list.ts';
import { pathOf } from './names.ts';
import { createReader } from './read.ts';
import { systemOperations, type Volume, type VolumeOperations } from './volume.ts';
import { createDirectory, createFile, removeFile } from './write.ts';

export interface FilesystemStoreDeps {
  readonly directory: string;
  /** Makes a link to the service's own file route. */
  readonly signUrl: (request: PresignRequest) => PresignedUrl;
  /**
   * Says whether opening an existing directory checks it; default true. The check writes to the directory, so a command
   * that may only read passes false: the check then runs before its first write.
   */
  readonly checksWhenOpened?: boolean;
  /** Remembers which store the directory held before; see `createIdentityGuard`. */
  readonly known?: KnownStore;
  /** For tests that imitate other file systems. */
  readonly operations?: VolumeOperations;
}

/**
 * Opens a directory as a store. Any number of processes on one machine can share it. Keys are paths below the
 * directory, escaped as `names.ts` describes.
 *
 * Also opens a directory that is missing, full or read-only, so that clients can read; the check then runs before the
 * first write.
 *
 * @throws AppError `store_nonconforming` when the file system has no hard links
 */
export async function openFilesystemStore(deps: FilesystemStoreDeps): Promise<ObjectStore> {
  const root = resolve(deps.directory);
  const volume = { root, operations: deps.operations ?? systemOperations };
  const { confirm, establish } = createIdentityGuard(volume, deps.known);
  const prepare = createPreparation(volume, { confirm, establish });
  if ((deps.checksWhenOpened ?? true) && (await isThere(root))) {
    await translate('open', root, prepare).catch((error: unknown) => {
      // Other failures, such as a full volume, must not prevent reading; the first write reports them.
      if (isAppError(error, 'store_nonconforming')) throw error;
    });
  }

  async function write(
    key: string,
    signal: AbortSignal | undefined,
    fill: (file: FileHandle) => Promise<void>,
  ): Promise<'created' | 'exists'> {
    const path = pathOf(root, parseKey(key));
    signal?.throwIfAborted();
    return translate('write', path, async () => {
      await prepare();
      await confirm();
      const outcome = await createFile(volume, path, async (file) => {
        await fill(file);
        signal?.throwIfAborted();
      });
      // When the volume was unmounted meanwhile, the object is in the mount point, and not in the store.
      await confirm();
      return outcome;
    });
  }

  return {
    location: `directory:${root}`,
    identify: () => translate('read', root, confirm),
    presign: async (request) => {
      parseKey(request.key);
      return deps.signUrl(request);
    },
    create: (key, body, options) =>
      write(key, options?.signal, async (file) => file.writeFile(body)),
    upload: (key, source, options = {}) =>
      write(key, options.signal, (file) => copyToFile(file, key, source, options)),
    ...createReader(root, confirm),
    async delete(key, options) {
      const path = pathOf(root, parseKey(key));
      options?.signal?.throwIfAborted();
      await translate('delete', path, async () => {
        await confirm();
        await removeFile(volume, path);
        // When the volume was unmounted meanwhile, nothing was deleted: the file is still on the volume.
        await confirm();
      });
    },
    keepsVersions: async () => false,
    removeAbandonedUploads: (before) =>
      translate('remove unfinished files in', root, async () => {
        await confirm();
        return removeAbandoned(volume, before);
      }),
  };
}

async function isThere(root: string): Promise<boolean> {
  return (await translate('open', root, () => statIfPresent(root))) !== undefined;
}

/**
 * Returns a function that creates and checks the directory, for use before each write. Calls after the first success do
 * nothing.
 */
function createPreparation(volume: Volume, identity: IdentityGuard): () => Promise<void> {
  let prepared: Promise<void> | undefined;
  const prepareOnce = async (): Promise<void> => {
    // `confirm` throws when the known store is gone: this process must not create its directory or write to it. For an
    // existing store, `establish` runs before the check: the check fails on a read-only volume, and the process must
    // remember the store all the same.
    if ((await identity.confirm()) === undefined) await createDirectory(volume);
    else await identity.establish();
    await checkDirectory(volume);
    await identity.establish();
  };
  return () => {
    prepared ??= prepareOnce().catch((error: unknown) => {
      prepared = undefined;
      throw error;
    });
    return prepared;
  };
}

/** Removes unfinished files that were last modified before `before`; returns how many it removed. */
async function removeAbandoned(volume: Volume, before: Date): Promise<number> {
  let removed = 0;
  for await (const path of listTemporaryFiles(volume.root)) {
    const stats = await statIfPresent(path);
    if (stats === undefined || stats.mtime >= before) continue;
    await removeFile(volume, path);
    removed += 1;
  }
  return removed;
}
