import { lstat } from 'node:fs/promises';
import { readPlainFile } from '../../core/plain-file.ts';
import { findEmbeddedSignature, parseEdSignatureBytes } from '../../domain/ed-signature.ts';
import { refusal } from '../refusal.ts';
import { beside, type SourceFile } from '../source-file.ts';

/**
 * Appcasts that their publisher signed. The signature covers every byte, so they are stored and served as they are.
 *
 * `sign_update` and `generate_appcast` of Sparkle 2.9 append a comment with the signature of the bytes before it.
 * `netsparkle-generate-appcast` writes the signature of the whole file into `{appcast}.signature`.
 */
export type FeedSignature =
  | { readonly by: 'sparkle' }
  | { readonly by: 'netsparkle'; readonly file: Uint8Array; readonly path: string };

const SIGNATURE_FILE_BYTES_MAX = 4 * 1024;

/** @throws AppError `invalid_artifact` for a signature that no client accepts */
export async function findFeedSignatures(
  source: SourceFile,
  bytes: Uint8Array,
): Promise<readonly FeedSignature[]> {
  const found: FeedSignature[] = [];
  const embedded = findEmbeddedSignature(bytes);
  if (embedded === 'malformed') {
    throw refusal(
      source.path,
      'its sparkle-signatures comment does not fit the bytes before it: the appcast was changed after it was signed. Sign it again with sign_update.',
    );
  }
  if (embedded !== undefined) found.push({ by: 'sparkle' });
  const name = `${source.name}.signature`;
  if (!source.siblings.includes(name)) return found;
  const path = beside(source, name);
  if (!(await lstat(path)).isFile()) return found;
  const file = (await readPlainFile(path, SIGNATURE_FILE_BYTES_MAX)) ?? Buffer.alloc(0);
  if (parseEdSignatureBytes(file.toString('utf8').trim()) === undefined) {
    throw refusal(
      path,
      'it is not an Ed25519 signature in base64, as netsparkle-generate-appcast writes it. Write the appcast again.',
    );
  }
  return [...found, { by: 'netsparkle', file, path }];
}
