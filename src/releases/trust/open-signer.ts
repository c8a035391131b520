import { createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto';
import { parsePublicKey, publicKeyOf } from '../../catalog/trust/public-key.ts';
import type { Signer } from '../../catalog/trust/signer.ts';
import { AppError, systemCode } from '../../core/errors.ts';
import { readPlainText } from '../../core/plain-file.ts';
import { createCommandSigner } from './command-signer.ts';

/** More bytes than any key file has. */
const KEY_BYTES_MAX = 16 * 1024;

/**
 * Returns the passphrase of a key file.
 *
 * @param name the key file, for the question
 * @throws AppError `key_required` when nobody can be asked
 */
export type AskPassphrase = (name: string) => Promise<string>;

/**
 * Opens a key for signing.
 *
 * @param given the name of a key file in PKCS #8 (PEM), the text of such a file, or `command:NAME.pub:COMMAND`
 * @throws AppError `invalid_configuration`, `key_required`
 */
export async function openSigner(given: string, ask: AskPassphrase): Promise<Signer> {
  const [, file, command] = /^command:([^:]+):(.+)$/s.exec(given) ?? [];
  if (file !== undefined && command !== undefined) {
    const key = parsePublicKey(await readText(file), file);
    return createCommandSigner(key, command.trim(), { name: `The command for ${file}` });
  }
  if (given.startsWith('command:')) {
    throw new AppError(
      'invalid_configuration',
      'A signer command has the form command:NAME.pub:COMMAND.',
    );
  }
  const isText = given.trimStart().startsWith('-----BEGIN');
  const name = isText ? 'The key' : given;
  const pem = isText ? given : await readText(given);
  const key = await openPrivateKey(pem, name, ask);
  const own = publicKeyOf(createPublicKey(key));
  const hash = own.algorithm === 'P-256' ? 'sha256' : null;
  // Only this function uses the private key, which never leaves it.
  return { key: own, name, sign: async (bytes) => sign(hash, bytes, key) };
}

async function openPrivateKey(pem: string, name: string, ask: AskPassphrase): Promise<KeyObject> {
  if (!/-----BEGIN (ENCRYPTED )?PRIVATE KEY-----/.test(pem)) {
    const isPublic = pem.includes('PUBLIC KEY');
    throw new AppError(
      'invalid_configuration',
      isPublic
        ? `${name} is a public key. To sign, give the private key: NAME.key.`
        : `${name} is not a private key in PKCS #8 (PEM). "slipway trust new-key" makes one; openssl converts one: openssl pkcs8 -topk8.`,
    );
  }
  const isEncrypted = pem.includes('BEGIN ENCRYPTED');
  const passphrase = isEncrypted ? await ask(name) : undefined;
  try {
    return createPrivateKey(passphrase === undefined ? pem : { key: pem, passphrase });
  } catch (error) {
    throw new AppError(
      'invalid_configuration',
      isEncrypted
        ? `${name} cannot be opened: the passphrase is wrong, or the file was altered.`
        : `${name} cannot be opened: the file was altered.`,
      { cause: error },
    );
  }
}

/** @throws AppError `invalid_configuration` */
export async function readText(file: string): Promise<string> {
  try {
    const text = await readPlainText(file, KEY_BYTES_MAX);
    if (text !== undefined) return text;
  } catch (error) {
    const code = systemCode(error);
    if (code === undefined) throw error;
    const why = code === 'ENOENT' ? 'does not exist' : `cannot be read (${code})`;
    throw new AppError('invalid_configuration', `The key file ${file} ${why}.`, { cause: error });
  }
  throw new AppError('invalid_configuration', `${file} is larger than any key.`);
}
