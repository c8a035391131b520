import type { FileHandle } from 'node:fs/promises';
import { resolve } from 'node:path';
import { isAppError } from '../errors.ts';
import { checkDirectory } from './filesystem-check.ts';
import { copyToFile } from './filesystem-copy.ts';
import { translate } from './filesystem-errors.ts';
import { ensureIdentity, readIdentity, refuseVanished } from './filesystem-identity.ts';
import { listTemporaryFiles, statIfPresent } from './filesystem-list.ts';
import { pathOf } from './filesystem-names.ts';
import { createReader } from './filesystem-read.ts';
import { systemOperations, type VolumeOperations } from './filesystem-volume.ts';
import { createDirectory, createFile, removeFile } from './filesystem-write.ts';
import { parseKey } from './key.ts';
import type { ObjectStore, PresignedUrl, PresignRequest } from './object-store.ts';

export interface FilesystemStoreDeps {
  readonly directory: string;
  /** Makes the link to this service's own file route. */
  readonly signUrl: (request: PresignRequest) => PresignedUrl;
  /**
   * Whether opening an existing directory checks it, which writes there. False for a command, which may
   * only read: the check then comes before the first write.
   */
  readonly checksWhenOpened?: boolean;
  /** For tests of file systems that cannot be mounted where the tests run. */
  readonly operations?: VolumeOperations;
}

/**
 * A directory as a store, shared by any number of processes on one machine; keys are paths below it,
 * spelled as in `filesystem-names.ts`.
 *
 * `store_nonconforming` when its file system has no hard links. A directory that is missing, full or
 * read-only opens all the same, for readers, and is checked before the first write.
 */
export async function openFilesystemStore(deps: FilesystemStoreDeps): Promise<ObjectStore> {
  const root = resolve(deps.directory);
  const volume = { root, operations: deps.operations ?? systemOperations };
  let prepared: Promise<void> | undefined;
  /** Whether this process has seen the store: what is missing then may be all of it. */
  let wasThere = false;

  function prepare(): Promise<void> {
    prepared ??= createDirectory(volume)
      .then(() => checkDirectory(volume))
      .then(() => ensureIdentity(volume))
      .then(() => {
        wasThere = true;
      })
      .catch((error: unknown) => {
        prepared = undefined;
        throw error;
      });
    return prepared;
  }

  if ((await translate('open', root, () => statIfPresent(root))) !== undefined) {
    if (deps.checksWhenOpened !== false) {
      await prepare().catch((error: unknown) => {
        if (isAppError(error, 'store_nonconforming')) {
          throw error;
        }
      });
    }
    wasThere ||= (await translate('open', root, () => readIdentity(root))) !== undefined;
  }

  async function refuseIfVanished(): Promise<void> {
    if (wasThere) await refuseVanished(root);
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
      await refuseIfVanished();
      return createFile(volume, path, async (file) => {
        await fill(file);
        signal?.throwIfAborted();
      });
    });
  }

  return {
    location: `directory:${root}`,
    identify: () => translate('read', root, () => readIdentity(root)),
    presign: async (request) => {
      parseKey(request.key);
      return deps.signUrl(request);
    },
    create: (key, body, options) =>
      write(key, options?.signal, async (file) => file.writeFile(body)),
    upload: (key, source, options = {}) =>
      write(key, options.signal, (file) => copyToFile(file, key, source, options)),
    ...createReader(root, refuseIfVanished),
    async delete(key, options) {
      const path = pathOf(root, parseKey(key));
      options?.signal?.throwIfAborted();
      await translate('delete', path, () => removeFile(volume, path));
    },
    keepsVersions: async () => false,
    removeAbandonedUploads: (before) =>
      translate('clear unfinished files in', root, async () => {
        let removed = 0;
        for await (const path of listTemporaryFiles(root)) {
          const stats = await statIfPresent(path);
          if (stats !== undefined && stats.mtime < before) {
            await removeFile(volume, path);
            removed += 1;
          }
        }
        return removed;
      }),
  };
}
