import { createHash } from 'node:crypto';
import type { AppError } from '../../core/errors.ts';
import { CARRIED_BYTES_MAX, parseUpdateInfoName } from '../../domain/carried-document.ts';
import type { Platform } from '../../domain/platform.ts';
import { versionsInName } from '../../domain/version-in-name.ts';
import type { BuiltDocument } from '../build-output.ts';
import type { Feed, FeedEntry } from '../electron/feed.ts';
import { checkFilename } from '../filename.ts';
import { refusal } from '../refusal.ts';
import type { SourceFile } from '../source-file.ts';
import type { Unfinished } from '../unfinished.ts';

/**
 * Signed update documents of electron-builder. The signature covers the address of every file. So the service stores
 * and serves a document unchanged, and publishes its files under the names in its addresses. See `signed-shape.ts`.
 */

/**
 * The document as the service stores it. Renames the listed packages to the names in the addresses of the document.
 *
 * @param find returns the package that an entry describes
 * @throws AppError `invalid_artifact` when clients could not find a file that the document lists
 */
export function carrySigned(
  { path, name }: SourceFile,
  content: Uint8Array,
  feed: Feed,
  version: string,
  find: (entry: FeedEntry) => Unfinished | 'companion' | undefined,
): BuiltDocument {
  const audience = parseUpdateInfoName(name);
  if (audience === undefined || (audience.platform === 'linux' && audience.arch === null)) {
    throw refusal(
      path,
      'it is signed, and no client asks for its name. electron-builder names it like latest.yml, latest-mac.yml or latest-linux-arm64.yml.',
    );
  }
  if (content.length > CARRIED_BYTES_MAX) {
    throw refusal(
      path,
      `it has ${content.length} bytes; a signed document may have ${CARRIED_BYTES_MAX}, because every client downloads it at each check. Shorten its release notes before it is signed.`,
    );
  }
  const elsewhere: { address: string; name: string }[] = [];
  const lists: string[] = [];
  for (const entry of feed.entries) {
    const filename = addressedName(path, entry, version);
    if (filename === undefined) {
      elsewhere.push({ address: entry.address, name: entry.name });
      continue;
    }
    publishAs(path, filename, entry, audience.platform, find(entry));
    lists.push(filename);
  }
  const sha256 = createHash('sha256').update(content).digest('hex');
  return {
    path,
    name,
    bytes: content,
    size: content.length,
    sha256,
    stagingPercentage: feed.stagingPercentage ?? null,
    lists,
    elsewhere,
  };
}

/** True when an entry names a file on another server. */
export function isElsewhere({ address }: Pick<FeedEntry, 'address'>): boolean {
  return /^([a-z][a-z0-9+.-]*:|\/\/)/i.test(address);
}

const FEED = 'http://feed.invalid/feed/';

/**
 * The file that the client asks for below the address of the feed; undefined for a file on another server. The client
 * resolves the address like a link.
 *
 * @throws AppError `invalid_artifact` for an address at which clients would not find the file
 */
export function addressedName(path: string, entry: FeedEntry, version: string): string | undefined {
  if (!URL.canParse(entry.address, FEED)) throw notAFileName(path, entry, version);
  if (isElsewhere(entry)) return undefined;
  const { href, pathname, search, hash } = new URL(entry.address, FEED);
  const segments = pathname.split('/').slice(2).map(decode);
  const name = segments.at(-1);
  const isBelow = href.startsWith(FEED);
  const isPlain = segments.length === 1 || (segments.length === 2 && segments[0] === version);
  if (name === undefined || !isBelow || !isPlain || search !== '' || hash !== '') {
    throw notAFileName(path, entry, version);
  }
  // When an address is only a file name, the service finds the release by the version in that name. The version there
  // must include the build metadata.
  if (segments.length === 1 && !versionsInName(name).includes(version)) {
    throw refusal(
      path,
      `it is signed, and its address ${JSON.stringify(entry.address)} does not contain the version ${version} in this spelling: the service finds a file by the version in its name. Put \${version} into artifactName, and build again.`,
    );
  }
  return checkFilename(path, name);
}

function notAFileName(path: string, { address }: FeedEntry, version: string): AppError {
  return refusal(
    path,
    `it is signed, and its address ${JSON.stringify(address)} is not a file name. Slipway cannot change it: build with plain file names, such as App-Setup-${version}.exe.`,
  );
}

/** Undefined for a malformed escape: servers answer 400 to such an address. */
function decode(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}

/**
 * Gives a package the name under which a signed document lists it.
 *
 * @throws AppError `invalid_artifact` when the package is not published, or is for another platform than the document
 */
export function publishAs(
  path: string,
  filename: string,
  entry: FeedEntry,
  platform: Platform,
  found: Unfinished | 'companion' | undefined,
): void {
  if (found === undefined) {
    throw refusal(
      path,
      `it is signed and lists ${entry.name}, which is not published. Publish them together.`,
    );
  }
  if (found === 'companion') return;
  const { file, filename: given, platform: actual } = found.package;
  if (actual !== platform) {
    throw refusal(
      path,
      `clients on ${platform} ask for a document of this name, and it lists ${file.name} for ${actual}.`,
    );
  }
  if (given === filename) return;
  if (file.statement?.filename !== undefined) {
    throw refusal(
      file.path,
      `name=${given} contradicts ${path}, which is signed and lists the file as ${filename}. Leave name= out.`,
    );
  }
  found.package = { ...found.package, filename };
  for (const companion of found.companions) {
    if (companion.filename === `${given}.blockmap`) companion.filename = `${filename}.blockmap`;
  }
}
