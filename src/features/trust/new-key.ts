import { generateKeyPairSync } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { type PublicKey, publicKeyOf } from '../../catalog/trust/public-key.ts';
import { AppError, systemCode } from '../../core/errors.ts';

interface NewKey {
  /** The file of the private key. */
  readonly file: string;
  /** Undefined: the private key is not protected. */
  readonly passphrase: string | undefined;
  readonly isP256: boolean;
}

/** The file of the public key that belongs to a private key. */
export function publicFileOf(file: string): string {
  return `${file.replace(/\.key$/, '')}.pub`;
}

/**
 * Makes a key pair, and writes it to two files.
 *
 * @throws AppError `status_forbids` when a file exists; `invalid_request` when a file cannot be written
 */
export async function createKeyFiles({ file, passphrase, isP256 }: NewKey): Promise<PublicKey> {
  const { privateKey, publicKey } = isP256
    ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
    : generateKeyPairSync('ed25519');
  const protection = passphrase === undefined ? {} : { cipher: 'aes-256-cbc', passphrase };
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem', ...protection });
  await writeNew(file, pem, 0o600);
  await writeNew(publicFileOf(file), publicKey.export({ type: 'spki', format: 'pem' }), 0o644);
  return publicKeyOf(publicKey);
}

/** Writes a file that must not exist. */
export async function writeNew(
  file: string,
  content: string | Uint8Array,
  mode: number,
): Promise<void> {
  try {
    await writeFile(file, content, { flag: 'wx', mode });
  } catch (error) {
    const code = systemCode(error);
    if (code === undefined) throw error;
    if (code === 'EEXIST') {
      throw new AppError('status_forbids', `${file} exists. Choose another name, or move it away.`);
    }
    throw new AppError('invalid_request', `${file} cannot be written (${code}).`, { cause: error });
  }
}
