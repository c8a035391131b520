import type { OfferJson } from '../../catalog/documents/revision-document.ts';
import { type ReaderDeps, readManifest } from '../../catalog/read.ts';
import { isAppError } from '../../core/errors.ts';
import type { Release } from '../../domain/release.ts';
import { compareVersions, newestTextFirst, parseVersion } from '../../domain/version.ts';
import type { ChannelStates } from '../forecast/compare-channels.ts';

/** The earlier releases with which a new release is compared. */
export interface EarlierReleases {
  /** The newest release of the channel that is older; undefined for none. */
  readonly previous: Release | undefined;
  /** The last other release of the channel that has signed documents; undefined for none. */
  readonly signed: Release | undefined;
  /** The reasons for which releases could not be read, as sentences. */
  readonly problems: readonly string[];
}

/**
 * Reads releases that a channel offered before a release. A manifest that cannot be read is no error but an entry in
 * `problems`, because the release is published already.
 *
 * @param published `before` has the channels before the release
 */
export async function readEarlier(
  deps: ReaderDeps,
  published: {
    readonly application: string;
    readonly channel: string;
    readonly version: string;
    readonly before: ChannelStates['before'];
  },
): Promise<EarlierReleases> {
  const { application, channel, version } = published;
  const own = parseVersion(version);
  const others = (published.before[channel]?.offers ?? []).filter(
    (each) => each.version !== version,
  );
  const older = others
    .filter((each) => compareVersions(parseVersion(each.version), own) < 0)
    .sort((a, b) => newestTextFirst(a.version, b.version));
  const signed = others.findLast((offer) => offer.signed_documents === true);
  const problems: string[] = [];
  const read = async (offer: OfferJson | undefined): Promise<Release | undefined> => {
    if (offer === undefined) return undefined;
    try {
      return (await readManifest(deps, application, offer.version, offer.manifest)).release;
    } catch (error) {
      if (!isAppError(error)) throw error;
      problems.push(`${version} was not compared with ${offer.version}: ${error.message}`);
      return undefined;
    }
  };
  const [before] = older;
  const [previous, other] = await Promise.all([
    read(before),
    signed === before ? undefined : read(signed),
  ]);
  return { previous, signed: signed === before ? previous : other, problems };
}
