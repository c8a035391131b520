import { open } from 'node:fs/promises';
import { AppError, systemCode } from '../../src/errors.ts';

/** Larger than any key file. */
const KEY_BYTES_MAX = 16 * 1024;

/**
 * The text of a key that an operator gives on the command line: the file of that name, or the text itself.
 *
 * The message of an error never repeats the text, which may be a private key.
 *
 * @param option the option that gives the key, for errors
 * @throws AppError `invalid_request`
 */
export async function readKey(given: string, option: string): Promise<string> {
  try {
    return await readStart(given, option);
  } catch (error) {
    const code = systemCode(error);
    if (code === undefined) throw error;
    // No file has this name, so the text is the key itself.
    if (code === 'ENOENT' || code === 'ENAMETOOLONG' || code === 'ENOTDIR') return given;
    throw refusal(`The file that ${option} names cannot be read (${code}).`, error);
  }
}

/** Reads no more than a key may have: the file may be a whole build. It may also be a pipe, which has no positions. */
async function readStart(path: string, option: string): Promise<string> {
  const handle = await open(path);
  try {
    const buffer = Buffer.alloc(KEY_BYTES_MAX + 1);
    let length = 0;
    while (length < buffer.length) {
      const { bytesRead } = await handle.read(buffer, length, buffer.length - length, null);
      if (bytesRead === 0) return buffer.toString('utf8', 0, length);
      length += bytesRead;
    }
    throw refusal(`The file that ${option} names is larger than any key. Name the ".pub" file.`);
  } finally {
    await handle.close();
  }
}

function refusal(message: string, cause?: unknown): AppError {
  return new AppError('invalid_request', message, { cause });
}
