import { lstat, readFile } from 'node:fs/promises';
import { isEdSignature } from './ed-signature.ts';
import { refusal } from './refusal.ts';
import { beside, type SourceFile } from './source-file.ts';

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
  const embedded = splitSignedAppcast(bytes);
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
  const state = await lstat(path);
  if (!state.isFile()) return found;
  const file = state.size > SIGNATURE_FILE_BYTES_MAX ? Buffer.alloc(0) : await readFile(path);
  if (!isEdSignature(file.toString('utf8').trim())) {
    throw refusal(
      path,
      'it is not an Ed25519 signature in base64, as netsparkle-generate-appcast writes it. Write the appcast again.',
    );
  }
  return [...found, { by: 'netsparkle', file, path }];
}

const MARKER = '<!-- sparkle-signatures:';

/**
 * The signature in an appcast, and how many bytes it covers.
 *
 * @returns undefined without such a comment; `malformed` for one that Sparkle does not accept
 */
export function splitSignedAppcast(
  bytes: Uint8Array,
): { readonly length: number; readonly signature: string } | 'malformed' | undefined {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const at = buffer.lastIndexOf(MARKER);
  if (at < 0) return undefined;
  const block = buffer.toString('utf8', at + MARKER.length);
  const match = /^\s*\n([\s\S]*?)-->\s*$/.exec(block);
  const fields = new Map(
    (match?.[1] ?? '').split('\n').map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()] as const;
    }),
  );
  const signature = fields.get('edSignature') ?? '';
  const length = fields.get('length');
  const isRight = isEdSignature(signature) && (length === undefined || Number(length) === at);
  return isRight ? { length: at, signature } : 'malformed';
}
