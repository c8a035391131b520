import { readFile } from 'node:fs/promises';
import { type ArtifactSignature, MINISIGN } from '../domain/signature.ts';
import { refusal } from './refusal.ts';
import { whyOtherFile } from './signed-name.ts';

/** Tauri's `.sig`: base64 of a minisign signature file, as `tauri signer` writes it. */

const SIG_BYTES_MAX = 16 * 1024;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
/** Algorithm (`Ed`, or `ED` over a hash), key id, Ed25519 signature. */
const SIGNATURE_BYTES = 2 + 8 + 64;
const GLOBAL_SIGNATURE_BYTES = 64;

/**
 * The signature in a `.sig` file, its text untouched: the updater wants it as it was written.
 *
 * @param file the name of the file it is beside
 * @throws AppError `invalid_artifact` when it is not one of minisign, or says that it is that of another
 *   file or version: names of Mac archives carry no version, and a stale one must not be relabelled
 */
export async function readMinisign(
  path: string,
  file: string,
  version: string,
): Promise<ArtifactSignature> {
  const bytes = await readFile(path);
  const value = bytes.toString('utf8');
  const keyId = bytes.length <= SIG_BYTES_MAX ? keyIdOf(value) : undefined;
  if (keyId === undefined) {
    throw refusal(path, 'it is not a minisign signature as Tauri writes it (tauri signer sign)');
  }
  const signed = statedIn(value, 'version');
  if (signed !== undefined && signed !== version) {
    throw refusal(path, `it signs version ${signed}, not ${version}`);
  }
  const signedFile = statedIn(value, 'file');
  const reason = signedFile === undefined ? undefined : whyOtherFile(signedFile, file, version);
  if (reason !== undefined) throw refusal(path, `${reason}; sign ${file} (tauri signer sign)`);
  return { scheme: MINISIGN, keyId, value };
}

/** Sixteen hex digits, the number that minisign prints for a key; undefined for anything else. */
export function keyIdOf(text: string): string | undefined {
  const decoded = decode(text.trim())?.toString('utf8') ?? '';
  const [comment, signature, trusted, global] = decoded.split(/\r?\n/);
  const isShaped =
    comment?.startsWith('untrusted comment:') && trusted?.startsWith('trusted comment:');
  const bytes = decode(signature ?? '');
  if (!isShaped || bytes?.length !== SIGNATURE_BYTES) return undefined;
  if (decode(global ?? '')?.length !== GLOBAL_SIGNATURE_BYTES) return undefined;
  if (!/^E[dD]$/.test(bytes.toString('latin1', 0, 2))) return undefined;
  return Buffer.from(bytes.subarray(2, 10)).reverse().toString('hex').toUpperCase();
}

/** A field of the trusted comment, which Tauri's signer fills: `timestamp:…⇥file:…⇥version:…`. */
function statedIn(text: string, field: 'file' | 'version'): string | undefined {
  const decoded = decode(text.trim())?.toString('utf8') ?? '';
  const trusted = (decoded.split(/\r?\n/)[2] ?? '').replace(/^trusted comment:\s*/, '');
  const stated = trusted.split('\t').find((part) => part.startsWith(`${field}:`));
  return stated?.slice(field.length + 1).trim();
}

function decode(text: string): Buffer | undefined {
  return BASE64.test(text) ? Buffer.from(text, 'base64') : undefined;
}
