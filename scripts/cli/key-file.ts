import { readFile } from 'node:fs/promises';
import { AppError, systemCode } from '../../src/errors.ts';

/** No public key and no private key is as large. */
const KEY_LENGTH_MAX = 16 * 1024;

/**
 * The text of a key that an operator gives on the command line: the file of that name, or the text itself.
 *
 * The message of an error never repeats the text, which may be a private key.
 *
 * @param option the option that gives the key, for errors
 * @throws AppError `invalid_request`
 */
export async function readKey(given: string, option: string): Promise<string> {
  const text = await readFile(given, 'utf8').catch((error: unknown) => {
    const code = systemCode(error);
    if (code === undefined) throw error;
    // A key is no name of a file: it is too long, or no file has this name.
    if (code === 'ENOENT' || code === 'ENAMETOOLONG' || code === 'ENOTDIR') return given;
    throw refusal(`The file that ${option} names cannot be read (${code}).`, error);
  });
  if (text.length <= KEY_LENGTH_MAX) return text;
  throw refusal(`${option} names a file of ${text.length} characters, which is no key.`);
}

function refusal(message: string, cause?: unknown): AppError {
  return new AppError('invalid_request', message, { cause });
}
