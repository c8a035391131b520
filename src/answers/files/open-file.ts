import { artifactKey } from '../../catalog/documents/keys.ts';
import { AppError } from '../../core/errors.ts';
import type { Companion } from '../../domain/companion.ts';
import type { ObjectReader, ObjectStore } from '../../store/object-store.ts';

/**
 * The largest file that is read into memory, in bytes. A list of blocks has about one percent of the size of its file.
 */
const FILE_BYTES_MAX = 16 * 1024 * 1024;

/**
 * Opens a file that a verified manifest names. The caller closes the reader.
 *
 * @param file `size`: bytes, as the manifest states
 * @throws AppError `unknown_file` when the file was deleted from the store; `artifact_mismatch` when the stored file
 *   has another size; `store_unavailable`
 */
export async function openFile(
  store: Pick<ObjectStore, 'open'>,
  application: string,
  file: { readonly object: string; readonly filename: string; readonly size: number },
): Promise<ObjectReader> {
  const key = artifactKey(application, file.object);
  const reader = await store.open(key);
  if (reader === undefined) {
    throw new AppError('unknown_file', `${file.filename} was deleted from the store.`);
  }
  if (reader.info.size === file.size) return reader;
  await reader.close();
  throw new AppError(
    'artifact_mismatch',
    `${key} has ${reader.info.size} bytes, and its manifest states ${file.size}. Restore it from a backup, or yank the release.`,
  );
}

/**
 * Reads a small file that a verified manifest names.
 *
 * @throws AppError `unknown_file`; `artifact_mismatch`, also for a file above 16 MiB
 */
export async function readFileOf(
  store: Pick<ObjectStore, 'open'>,
  application: string,
  file: Pick<Companion, 'object' | 'filename' | 'size'>,
): Promise<Uint8Array> {
  if (file.size > FILE_BYTES_MAX) {
    const detail = `${file.filename} has ${file.size} bytes; at most ${FILE_BYTES_MAX} can be read into memory.`;
    throw new AppError('artifact_mismatch', detail);
  }
  const reader = await openFile(store, application, file);
  try {
    const bytes = new Uint8Array(file.size);
    await reader.read(bytes, 0);
    return bytes;
  } finally {
    await reader.close();
  }
}
