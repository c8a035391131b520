import { AppError } from '../../core/errors.ts';
import type { Companion } from '../../domain/companion.ts';
import type { ObjectStore } from '../../store/object-store.ts';
import { openFile } from './open-file.ts';

/** In bytes. A list of blocks has about one percent of the size of its file. */
const FILE_BYTES_MAX = 16 * 1024 * 1024;

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
