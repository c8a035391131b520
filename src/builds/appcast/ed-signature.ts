import { readPlainFile } from '../../core/plain-file.ts';
import { parseEdSignatureBytes } from '../../domain/ed-signature.ts';
import { type ArtifactSignature, SPARKLE_ED25519 } from '../../domain/signature.ts';
import { refusal } from '../refusal.ts';

/** Sparkle's signatures of files, as `sign_update` and the appcast tools write them. */

const SIGNATURE_BYTES_MAX = 4 * 1024;

/**
 * A signature that an appcast or a file states.
 *
 * @param path of the file that states the signature
 * @param name of the signed file
 * @throws AppError `invalid_artifact` when the value is no Ed25519 signature
 */
export function parseEdSignature(path: string, name: string, value: string): ArtifactSignature {
  if (parseEdSignatureBytes(value) !== undefined) {
    return { scheme: SPARKLE_ED25519, keyId: '', value };
  }
  throw refusal(
    path,
    `it states the edSignature ${JSON.stringify(value.slice(0, 100))} for ${name}, which is not an Ed25519 signature in base64. Sign the file with sign_update.`,
  );
}

/**
 * Reads `FILE.edSignature`: what `sign_update` prints (`sparkle:edSignature="…" length="…"`), or the signature alone.
 *
 * @param file the signed file
 * @throws AppError `invalid_artifact` when the file has neither form, or states another size for the signed file
 */
export async function readEdSignature(
  path: string,
  file: { readonly name: string; readonly size: number },
): Promise<ArtifactSignature> {
  const text = (await readPlainFile(path, SIGNATURE_BYTES_MAX))?.toString().trim() ?? '';
  const attribute = /\bedSignature="([^"]*)"/.exec(text)?.[1];
  const length = /\blength="(\d+)"/.exec(text)?.[1];
  if (length !== undefined && Number(length) !== file.size) {
    throw refusal(
      path,
      `it states ${length} bytes for ${file.name}, which has ${file.size}. The file was changed after it was signed. Sign it again with sign_update.`,
    );
  }
  return parseEdSignature(path, file.name, attribute ?? text);
}

/**
 * Adds a signature unless the list already contains the same signature.
 *
 * @throws AppError `invalid_artifact` for two different signatures of one file
 */
export function addEdSignature(
  path: string,
  name: string,
  signatures: ArtifactSignature[],
  added: ArtifactSignature,
): void {
  const other = signatures.find(({ scheme }) => scheme === added.scheme);
  if (other === undefined) signatures.push(added);
  else if (other.value !== added.value) {
    throw refusal(
      path,
      `it states another edSignature for ${name} than the file beside it does. Remove the older of both.`,
    );
  }
}
