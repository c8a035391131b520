import { open } from 'node:fs/promises';
import { AppError, systemCode } from '../core/errors.ts';
import { readPlainFile } from '../core/plain-file.ts';

/** More bytes than any key file has. */
const KEY_BYTES_MAX = 16 * 1024;
/** The path of a file that the shell has opened for this process, as for `<(…)`. */
const SHELL_PIPE = /^\/dev\/(?:stdin|fd\/\d+)$/;

/**
 * The text of a key that an operator gives on the command line, as the name of a file or as the text itself.
 *
 * The message of an error never repeats the text, which may be a private key.
 *
 * @param option the option that gives the key, for errors
 * @throws AppError `invalid_request`
 */
export async function readKey(given: string, option: string): Promise<string> {
  try {
    // The size is limited, because a publisher may name a whole build by mistake.
    const isOpen = SHELL_PIPE.test(given);
    const bytes = await (isOpen ? readPipe(given) : readPlainFile(given, KEY_BYTES_MAX));
    if (bytes !== undefined) return bytes.toString();
  } catch (error) {
    const code = systemCode(error);
    if (code === undefined) throw error;
    // No file has this name, so the text is the key itself.
    if (code === 'ENOENT' || code === 'ENAMETOOLONG' || code === 'ENOTDIR') return given;
    throw refusal(`The file that ${option} names cannot be read (${code}).`, error);
  }
  throw refusal(`The file that ${option} names is larger than any key. Name the ".pub" file.`);
}

/**
 * Reads a pipe, which has no positions and gives its bytes in parts. Undefined when the pipe has more bytes than any
 * key file.
 */
async function readPipe(path: string): Promise<Buffer | undefined> {
  const handle = await open(path);
  try {
    const buffer = Buffer.alloc(KEY_BYTES_MAX + 1);
    let length = 0;
    while (length < buffer.length) {
      const { bytesRead } = await handle.read(buffer, length, buffer.length - length, null);
      if (bytesRead === 0) return buffer.subarray(0, length);
      length += bytesRead;
    }
    return undefined;
  } finally {
    await handle.close();
  }
}

function refusal(message: string, cause?: unknown): AppError {
  return new AppError('invalid_request', message, { cause });
}
