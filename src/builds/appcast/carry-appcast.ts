import { createHash } from 'node:crypto';
import {
  CARRIED_BYTES_MAX,
  NETSPARKLE_APPCAST,
  NETSPARKLE_APPCAST_SIGNATURE,
  SPARKLE_APPCAST,
} from '../../domain/carried-document.ts';
import { compareSparkleVersions } from '../../domain/sparkle-version.ts';
import type { BuiltDocument } from '../build-output.ts';
import type { Draft } from '../draft.ts';
import type { FeedEntry } from '../electron/feed.ts';
import { addressedName, publishAs } from '../electron/signed-feed.ts';
import { refusal } from '../refusal.ts';
import { type AppcastEnclosure, type AppcastItem, fileNameOf } from './appcast.ts';
import type { AppcastSource } from './appcast-source.ts';
import { listedVersion } from './appcast-version.ts';

/** Signed appcasts as a release carries them. */

/**
 * The documents as they are stored. Gives the packages the names in the document's addresses.
 *
 * @param own the items of the version
 * @throws AppError `invalid_artifact` when clients could not find a file that the document lists, or would install
 *   another version
 */
export function carryAppcast(
  { source, bytes, items, signatures }: AppcastSource,
  own: readonly AppcastItem[],
  version: string,
  find: (enclosure: AppcastEnclosure) => Draft | undefined,
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
      const draft = find(enclosure);
      // With a whole address, the file may come from another job.
      if (draft !== undefined || entry.address === enclosure.url) {
        publishAs(path, filename, entry, draft?.package.platform ?? 'macos', draft);
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
 * An item that clients install in place of the items of the version; undefined for none. Clients ignore items of channels
 * that they were not built for.
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

/** Clients would install the newer version, whatever its rollout and status are here. */
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

/** Its address is relative to the feed, also when the document states the whole address of a feed of this service. */
function entryOf({ url, length }: AppcastEnclosure): FeedEntry {
  const address = url.replace(FEED_ADDRESS, '');
  return { address, name: fileNameOf(url), size: length, digests: [] };
}

/** The form of an absolute address of a feed of this service. */
const FEED_ADDRESS = /^https?:\/\/[^?#]*\/feeds\/[^/]+\/[^/]+\/(?:sparkle|netsparkle)\//i;
