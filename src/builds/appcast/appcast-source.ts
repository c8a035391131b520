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
 * A publisher's signature over an appcast. The signature covers every byte, so the service stores and serves the
 * appcast unchanged.
 *
 * `sign_update` and `generate_appcast` of Sparkle 2.9 append a comment with a signature over the bytes before the
 * comment. `netsparkle-generate-appcast` writes the signature of the whole file into `{appcast}.signature`.
 */
type FeedSignature =
  | { readonly by: 'sparkle' }
  | { readonly by: 'netsparkle'; readonly file: Uint8Array; readonly path: string };

/** An appcast among the files of a build. */
export interface AppcastSource {
  readonly source: SourceFile;
  readonly bytes: Uint8Array;
  readonly items: readonly AppcastItem[];
  /** The publisher's signatures over the whole document. */
  readonly signatures: readonly FeedSignature[];
}

/**
 * True when a file may be an appcast, the signature of an appcast, or a delta. A file with a stated format is a
 * package.
 */
export function isAppcastPart({ name, statement }: SourceFile): boolean {
  return /\.(xml|xml\.signature|delta)$/i.test(name) && statement?.format === undefined;
}

/**
 * The appcasts among files.
 *
 * @throws AppError `invalid_artifact` for an appcast with a signature that no client accepts
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
 * The paths of the files that an appcast lists only for other versions, each with its version. `generate_appcast` needs
 * the older archives in the directory, and the names of these archives may lack a version. Then only the appcast shows
 * that they are older.
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
    // When no item is of this version, the publisher may have given the wrong version: see `attachAppcast`.
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
 * The platforms of the files that an appcast lists for a version, by the path of the file. Names of archives often
 * state no platform. Sparkle reads an enclosure without `sparkle:os` as an enclosure for macOS.
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

/** The platform that clients read from a `sparkle:os`, such as `windows-x64`. */
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
