import { execFile } from 'node:child_process';
import { createHash, createPublicKey, verify } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { promisify } from 'node:util';

/** Tauri's signer, and two verifiers that are independent of Tauri and of this project. */

const run = promisify(execFile);
const CLI = createRequire(import.meta.url).resolve('@tauri-apps/cli/tauri.js');

export interface TauriKey {
  readonly file: string;
  /** The second line of minisign's key file: base64 of algorithm, key id and key. */
  readonly publicKey: string;
}

export async function generateTauriKey(directory: string): Promise<TauriKey> {
  const file = path.join(directory, 'updater.key');
  await run(process.execPath, [CLI, 'signer', 'generate', '--ci', '-p', '', '-w', file]);
  const text = Buffer.from(await readFile(`${file}.pub`, 'utf8'), 'base64').toString();
  return { file, publicKey: text.split('\n')[1] ?? '' };
}

/** Writes `{file}.sig`, as a Tauri build does. */
export async function signWithTauri(key: TauriKey, file: string, version: string): Promise<void> {
  const options = ['-f', key.file, '-p', '', '--app-version', version];
  await run(process.execPath, [CLI, 'signer', 'sign', ...options, file]);
}

/** The DER bytes before the key in an Ed25519 public key (RFC 8410). */
const SPKI_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');

/**
 * Verifies a signature. Returns its trusted comment; undefined when any check fails.
 *
 * @param sig the contents of a `.sig` file
 * @see https://jedisct1.github.io/minisign/#signature-format
 */
export function verifyMinisign(bytes: Buffer, sig: string, publicKey: string): string | undefined {
  const [, line = '', trusted = '', global = ''] = Buffer.from(sig, 'base64')
    .toString()
    .split('\n');
  const signed = Buffer.from(line, 'base64');
  const key = Buffer.from(publicKey, 'base64');
  const spki = Buffer.concat([SPKI_PREFIX, key.subarray(10)]);
  const ed25519 = createPublicKey({ key: spki, format: 'der', type: 'spki' });
  const signature = signed.subarray(10);
  const comment = trusted.slice('trusted comment: '.length);
  const digest = createHash('blake2b512').update(bytes).digest();
  const covered = Buffer.concat([signature, Buffer.from(comment)]);
  const isValid =
    // `ED`: Tauri's signer signs a hash. `Ed` would sign the bytes themselves.
    signed.toString('latin1', 0, 2) === 'ED' &&
    signed.subarray(2, 10).equals(key.subarray(2, 10)) &&
    verify(null, digest, ed25519, signature) &&
    verify(null, covered, ed25519, Buffer.from(global, 'base64'));
  return isValid ? comment : undefined;
}

/** Whether `minisign` is installed. @throws in CI when it is not */
export async function hasMinisign(): Promise<boolean> {
  try {
    await run('minisign', ['-v']);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    if (process.env.CI)
      throw new Error('CI requires minisign, which is not installed.', { cause: error });
    console.log(
      'The tests do not verify Tauri signatures with minisign, because it is not installed.',
    );
    return false;
  }
}

/** @throws when minisign does not accept the signature */
export async function runMinisign(
  directory: string,
  bytes: Buffer,
  sig: string,
  publicKey: string,
): Promise<void> {
  const file = path.join(directory, 'download');
  await writeFile(file, bytes);
  await writeFile(`${file}.minisig`, Buffer.from(sig, 'base64'));
  await run('minisign', ['-V', '-P', publicKey, '-m', file]);
}
