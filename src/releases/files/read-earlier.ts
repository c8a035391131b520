import pLimit from 'p-limit';
import type { OfferJson } from '../../catalog/documents/revision-document.ts';
import { type ReaderDeps, readManifest } from '../../catalog/reading/read.ts';
import type { OfferRight } from '../../catalog/trust/trust.ts';
import { type AppError, isAppError } from '../../core/errors.ts';
import { inheritedNames } from '../../domain/channel.ts';
import type { Release } from '../../domain/release.ts';
import { compareVersions, newestTextFirst, parseVersion } from '../../domain/version.ts';
import type { ChannelStates } from '../forecast/compare-channels.ts';

/** The earlier releases with which a new release is compared. */
export interface EarlierReleases {
  /** The newest release of the channel that is older; undefined for none. */
  readonly previous: Release | undefined;
  /** The newest older releases of the channel, newest first. */
  readonly older: readonly Release[];
  /** The errors of older releases that could not be read. */
  readonly unread: readonly AppError[];
  /** The last other release of the channel that has signed documents; undefined for none. */
  readonly signed: Release | undefined;
  /** The reasons for which releases could not be read, as sentences. */
  readonly problems: readonly string[];
}

/** Channels without the offers that their keys have not signed: no client has such a release. */
export function signedOnly(
  channels: ChannelStates['before'],
  right: Pick<OfferRight, 'isSigned'> | undefined,
): ChannelStates['before'] {
  if (right === undefined) return channels;
  return Object.fromEntries(
    Object.entries(channels).map(([name, channel]) => [
      name,
      { ...channel, offers: channel.offers.filter((offer) => right.isSigned(name, offer)) },
    ]),
  );
}

/** Requests at the same time. */
const READS_AT_ONCE = 8;

/**
 * Reads releases that a channel offered before a release, or a channel from which it inherits: its clients have these
 * releases too. A manifest that cannot be read is no error but an entry in
 * `problems`, because a corrupt old release must not stop a new one.
 *
 * @param published `before` has the channels before the release, also a channel that the release creates
 * @param olderMax the number of older releases to read
 */
export async function readEarlier(
  deps: ReaderDeps,
  published: {
    readonly application: string;
    readonly channel: string;
    readonly version: string;
    readonly before: ChannelStates['before'];
  },
  olderMax = 1,
): Promise<EarlierReleases> {
  const { application, channel, version } = published;
  const own = parseVersion(version);
  const offersOf = (name: string): readonly OfferJson[] =>
    (published.before[name]?.offers ?? []).filter((each) => each.version !== version);
  const others = offersOf(channel);
  const inherited = inheritedNames(channel, (name) => published.before[name]?.inherits);
  const byVersion = new Map(
    [...inherited.flatMap(offersOf), ...others].map((offer) => [offer.version, offer]),
  );
  const older = [...byVersion.values()]
    .filter((each) => compareVersions(parseVersion(each.version), own) < 0)
    .sort((a, b) => newestTextFirst(a.version, b.version))
    .slice(0, olderMax);
  const signed = others.findLast((offer) => offer.signed_documents === true);
  const problems: string[] = [];
  const unread: AppError[] = [];
  const limit = pLimit(READS_AT_ONCE);
  const read = async (offer: OfferJson): Promise<readonly [OfferJson, Release][]> => {
    try {
      const found = await readManifest(deps, application, offer.version, offer.manifest);
      return [[offer, found.release]];
    } catch (error) {
      if (!isAppError(error)) throw error;
      if (older.includes(offer)) unread.push(error);
      problems.push(`${version} was not compared with ${offer.version}: ${error.message}`);
      return [];
    }
  };
  const wanted = new Set(signed === undefined ? older : [...older, signed]);
  const found = new Map((await limit.map(wanted, read)).flat());
  const releaseOf = (offer: OfferJson | undefined) => offer && found.get(offer);
  return {
    previous: releaseOf(older[0]),
    older: older.flatMap((offer) => found.get(offer) ?? []),
    signed: releaseOf(signed),
    unread,
    problems,
  };
}
