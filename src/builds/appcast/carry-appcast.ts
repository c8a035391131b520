import { createHash } from 'node:crypto';
import {
  CARRIED_BYTES_MAX,
  NETSPARKLE_APPCAST,
  NETSPARKLE_APPCAST_SIGNATURE,
  SPARKLE_APPCAST,
} from '../../domain/carried-document.ts';
import { compareSparkleVersions } from '../../domain/sparkle-version.ts';
import type { BuiltDocument } from '../build-output.ts';
import type { FeedEntry } from '../electron/feed.ts';
import { addressedName, publishAs } from '../electron-feed/signed-feed.ts';
import { refusal } from '../refusal.ts';
import type { Unfinished } from '../unfinished.ts';
import { type AppcastEnclosure, type AppcastItem, fileNameOf } from './appcast.ts';
import type { AppcastSource } from './appcast-source.ts';
import { listedVersion } from './appcast-version.ts';

/** Turns signed appcasts into the documents that a release carries. */

/**
 * The documents as the service stores them. Renames the packages to the names in the addresses of the appcast.
 *
 * @param own the items of the version
 * @throws AppError `invalid_artifact` when clients could not find a file that the document lists, or would install
 *   another version
 */
export function carryAppcast(
  { source, bytes, items, signatures }: AppcastSource,
  own: readonly AppcastItem[],
  version: string,
  find: (enclosure: AppcastEnclosure) => Unfinished | undefined,
): readonly BuiltDocument[] {
  const { path } = source;
  if (bytes.length > CARRIED_BYTES_MAX) {
    throw refusal(
      path,
      `it has ${bytes.length} bytes; a signed document may have ${CARRIED_BYTES_MAX}, because every client downloads it at each check. Keep fewer versions in it (generate_appcast --maximum-versions) or shorten its notes, and sign it again.`,
    );
  }
  refuseNewer(path, items, own);
  const lists: string[] = [];
  const elsewhere: BuiltDocument['elsewhere'][number][] = [];
  for (const item of own) {
    for (const enclosure of item.enclosures) {
      const entry = entryOf(enclosure);
      const filename = addressedName(path, entry, version);
      if (filename === undefined) {
        elsewhere.push({ address: enclosure.url, name: entry.name });
        continue;
      }
      const unfinished = find(enclosure);
      // When the appcast states a whole address, another job may publish the file.
      if (unfinished !== undefined || entry.address === enclosure.url) {
        publishAs(path, filename, entry, unfinished?.package.platform ?? 'macos', unfinished);
      }
      lists.push(filename);
    }
  }
  const phased = own.find(({ phasedRolloutInterval }) => phasedRolloutInterval !== undefined);
  const document = (from: string, name: string, content: Uint8Array): BuiltDocument => ({
    path: from,
    name,
    bytes: content,
    size: content.length,
    sha256: createHash('sha256').update(content).digest('hex'),
    stagingPercentage: null,
    ...(phased === undefined ? {} : { phasedRolloutInterval: phased.phasedRolloutInterval }),
    lists,
    elsewhere,
  });
  return signatures.flatMap((signature) =>
    signature.by === 'sparkle'
      ? [document(path, SPARKLE_APPCAST, bytes)]
      : [
          document(path, NETSPARKLE_APPCAST, bytes),
          {
            ...document(signature.path, NETSPARKLE_APPCAST_SIGNATURE, signature.file),
            lists: [],
            elsewhere: [],
          },
        ],
  );
}

/**
 * An item that clients would install instead of the items of the version; undefined for none. Items with a channel do
 * not count, because a client ignores them unless its application was built for that channel.
 */
export function findNewer(
  items: readonly AppcastItem[],
  own: readonly AppcastItem[],
): AppcastItem | undefined {
  return items.find(
    (item) =>
      item.channel === undefined &&
      !own.includes(item) &&
      own.every(({ version = '' }) => compareSparkleVersions(item.version ?? '', version) > 0),
  );
}

/** Clients would install the newer version, even when this service has paused it or rolls it out to few clients. */
function refuseNewer(
  path: string,
  items: readonly AppcastItem[],
  own: readonly AppcastItem[],
): void {
  const newer = findNewer(items, own);
  if (newer === undefined) return;
  throw refusal(
    path,
    `it is signed and also lists version ${listedVersion(newer)}, which clients would install in place of this release. Write an appcast in which this release is the newest, and sign it.`,
  );
}

/** The entry of an enclosure. Makes a whole address below a feed of this service relative to that feed. */
function entryOf({ url, length }: AppcastEnclosure): FeedEntry {
  const address = url.replace(FEED_ADDRESS, '');
  return { address, name: fileNameOf(url), size: length, digests: [] };
}

/** The beginning of a whole address below a feed of this service. */
const FEED_ADDRESS = /^https?:\/\/[^?#]*\/feeds\/[^/]+\/[^/]+\/(?:sparkle|netsparkle)\//i;
