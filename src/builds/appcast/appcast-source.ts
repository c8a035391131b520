import { lstat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { readPlainFile } from '../../core/plain-file.ts';
import { findEmbeddedSignature, parseEdSignatureBytes } from '../../domain/ed-signature.ts';
import type { Platform } from '../../domain/platform.ts';
import { refusal } from '../refusal.ts';
import { beside, type SourceFile } from '../source-file.ts';
import {
  APPCAST_BYTES_MAX,
  type AppcastItem,
  fileNameOf,
  readAppcastOrUndefined,
} from './appcast.ts';
import { isOfVersion, listedVersion } from './appcast-version.ts';

/**
 * Appcasts that their publisher signed. The signature covers every byte, so they are stored and served as they are.
 *
 * `sign_update` and `generate_appcast` of Sparkle 2.9 append a comment with the signature of the bytes before it.
 * `netsparkle-generate-appcast` writes the signature of the whole file into `{appcast}.signature`.
 */
type FeedSignature =
  | { readonly by: 'sparkle' }
  | { readonly by: 'netsparkle'; readonly file: Uint8Array; readonly path: string };

/** An appcast among the files of a build. */
export interface AppcastSource {
  readonly source: SourceFile;
  readonly bytes: Uint8Array;
  readonly items: readonly AppcastItem[];
  /** The signatures of its publisher over the whole document. */
  readonly signatures: readonly FeedSignature[];
}

/** True when a file may be an appcast, its signature or a delta. With a stated format, it is a package. */
export function isAppcastPart({ name, statement }: SourceFile): boolean {
  return /\.(xml|xml\.signature|delta)$/i.test(name) && statement?.format === undefined;
}

/**
 * The appcasts among files.
 *
 * @throws AppError `invalid_artifact` for one with a signature that no client accepts
 */
export async function readAppcasts(
  sources: readonly SourceFile[],
): Promise<readonly AppcastSource[]> {
  const found: AppcastSource[] = [];
  for (const source of sources) {
    if (!isAppcastPart(source) || !/\.xml$/i.test(source.name)) continue;
    const bytes = await readPlainFile(source.path, APPCAST_BYTES_MAX);
    if (bytes === undefined) continue;
    const items = readAppcastOrUndefined(bytes.toString('utf8'));
    if (items === undefined) continue;
    const signatures = await findFeedSignatures(source, bytes);
    found.push({ source, bytes, items, signatures });
  }
  return found;
}

/**
 * The files that an appcast lists for other versions only, by their paths. `generate_appcast` needs the older archives
 * in its directory, and their names may lack a version.
 */
export function listedForOthers(
  appcasts: readonly AppcastSource[],
  version: string,
): ReadonlyMap<string, string> {
  const others = new Map<string, string>();
  for (const { source, items } of appcasts) {
    const pathsOf = (item: AppcastItem): readonly string[] =>
      item.enclosures.map(({ url }) => join(dirname(source.path), fileNameOf(url)));
    const own = items.filter((item) => isOfVersion(item, version));
    // Without an item of the version, the publisher may have given the wrong one: see `attachAppcast`.
    if (own.length === 0) continue;
    const current = new Set(own.flatMap(pathsOf));
    for (const item of items) {
      if (own.includes(item)) continue;
      for (const path of pathsOf(item)) {
        if (!current.has(path)) others.set(path, listedVersion(item));
      }
    }
  }
  return others;
}

/**
 * The platforms of the files that an appcast lists for a version, by their paths: names of archives often state none.
 * Sparkle reads an enclosure without `sparkle:os` as one for macOS.
 */
export function platformsListed(
  appcasts: readonly AppcastSource[],
  version: string,
): ReadonlyMap<string, Platform> {
  return new Map(
    appcasts.flatMap(({ source, items }) =>
      items
        .filter((item) => isOfVersion(item, version))
        .flatMap((item) => item.enclosures)
        .map(({ url, os }) => [
          join(dirname(source.path), fileNameOf(url)),
          os === undefined ? 'macos' : platformOfAppcast(os),
        ]),
    ),
  );
}

/** The platform of `sparkle:os`, such as `windows-x64`, as clients read it. */
export function platformOfAppcast(os: string): Platform {
  if (/win/i.test(os)) return 'windows';
  return /linux/i.test(os) ? 'linux' : 'macos';
}

const SIGNATURE_FILE_BYTES_MAX = 4 * 1024;

/** @throws AppError `invalid_artifact` for a signature that no client accepts */
async function findFeedSignatures(
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
