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
import { systemOperations, type Volume, type VolumeOperations } from './filesystem-volume.ts';
import { createDirectory, createFile, removeFile } from './filesystem-write.ts';
import { parseKey } from './key.ts';
import type { ObjectStore, PresignedUrl, PresignRequest } from './object-store.ts';

export interface FilesystemStoreDeps {
  readonly directory: string;
  /** Makes a link to the service's own file route. */
  readonly signUrl: (request: PresignRequest) => PresignedUrl;
  /**
   * Whether to check an existing directory on opening, which writes to it; default true. A command that may
   * only read passes false: the check then runs before its first write.
   */
  readonly checksWhenOpened?: boolean;
  /** For tests that imitate other file systems. */
  readonly operations?: VolumeOperations;
}

/**
 * Opens a directory as a store. Any number of processes on one machine can share it. Keys are paths below
 * it, escaped as `filesystem-names.ts` describes.
 *
 * Also opens a directory that is missing, full or read-only, so that clients can read; the check then runs
 * before the first write.
 *
 * @throws AppError `store_nonconforming` when the file system has no hard links
 */
export async function openFilesystemStore(deps: FilesystemStoreDeps): Promise<ObjectStore> {
  const root = resolve(deps.directory);
  const volume = { root, operations: deps.operations ?? systemOperations };
  const { prepare, refuseIfVanished } = await openDirectory(volume, deps.checksWhenOpened ?? true);

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
      translate('remove unfinished files in', root, () => removeAbandoned(volume, before)),
  };
}

interface OpenedDirectory {
  /** Creates and checks the directory before the first write; later calls do nothing. */
  prepare(): Promise<void>;
  /** @throws AppError `store_unavailable` when the whole store existed before and is gone */
  refuseIfVanished(): Promise<void>;
}

async function openDirectory(volume: Volume, checksNow: boolean): Promise<OpenedDirectory> {
  const { root } = volume;
  let prepared: Promise<void> | undefined;
  let wasThere = false;
  const prepareOnce = async (): Promise<void> => {
    await createDirectory(volume);
    await checkDirectory(volume);
    await ensureIdentity(volume);
    wasThere = true;
  };
  const prepare = (): Promise<void> => {
    prepared ??= prepareOnce().catch((error: unknown) => {
      prepared = undefined;
      throw error;
    });
    return prepared;
  };
  if ((await translate('open', root, () => statIfPresent(root))) !== undefined) {
    if (checksNow) {
      await prepare().catch((error: unknown) => {
        // Other failures, such as a full volume, must not prevent reading; the first write reports them.
        if (isAppError(error, 'store_nonconforming')) throw error;
      });
    }
    wasThere ||= (await translate('open', root, () => readIdentity(root))) !== undefined;
  }
  return {
    prepare,
    refuseIfVanished: async () => {
      if (wasThere) await refuseVanished(root);
    },
  };
}

/** Removes unfinished files that were last modified before `before`; returns how many. */
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
