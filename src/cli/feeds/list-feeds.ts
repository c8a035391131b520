import {
  type ChannelJson,
  parseOffers,
  type RevisionJson,
  visibleChannels,
} from '../../catalog/documents/revision-document.ts';
import { unknownChannel } from '../../catalog/reading/unknown-release.ts';
import { inheritedNames } from '../../domain/channel.ts';
import type { OfferedArtifact } from '../../domain/offer.ts';
import { ARCHES, FORMATS, PLATFORMS } from '../../domain/platform.ts';
import type { TierTable } from '../../domain/tier.ts';
import { compareVersions, type Version, versionText } from '../../domain/version.ts';

/** A channel with the files that its feeds can serve. */
export interface FeedChannel {
  readonly name: string;
  /** True when clients must send an access token. */
  readonly isRestricted: boolean;
  /** Sorted by platform, architecture and format. */
  readonly files: readonly OfferedFile[];
}

/**
 * A kind of file that clients of the channel see. Its version is the version of the newest release that has such a
 * file.
 */
export interface OfferedFile
  extends Pick<OfferedArtifact, 'platform' | 'arch' | 'format' | 'signatureSchemes'> {
  readonly version: string;
}

interface FeedsQuery {
  readonly tiers: Pick<TierTable, 'restricts'>;
  /** Undefined: every channel that clients see. */
  readonly channel: string | undefined;
}

/**
 * The channels of a catalog revision, each with the files of its active offers and of the channels that it inherits.
 *
 * @throws AppError `unknown_channel`
 */
export function listFeeds(
  { application, channels }: Pick<RevisionJson, 'application' | 'channels'>,
  { tiers, channel: only }: FeedsQuery,
): readonly FeedChannel[] {
  const visible = new Map(visibleChannels(channels));
  if (only !== undefined && !visible.has(only)) throw unknownChannel(application, only, channels);
  return [...visible.keys()]
    .filter((name) => only === undefined || name === only)
    .map((name) => {
      const inherited = inheritedNames(name, (each) => visible.get(each)?.inherits);
      const shown = [name, ...inherited].flatMap((each) => visible.get(each) ?? []);
      return {
        name,
        isRestricted: tiers.restricts(application, name),
        files: newestFiles(shown),
      };
    });
}

function newestFiles(channels: readonly ChannelJson[]): readonly OfferedFile[] {
  const newest = new Map<string, { readonly file: OfferedArtifact; readonly version: Version }>();
  const offers = channels.flatMap((channel) => parseOffers(channel.offers));
  for (const { status, version, artifacts } of offers) {
    if (status !== 'active') continue;
    for (const file of artifacts) {
      const kind = `${file.platform} ${file.arch} ${file.format}`;
      const known = newest.get(kind);
      if (known === undefined || compareVersions(version, known.version) > 0) {
        newest.set(kind, { file, version });
      }
    }
  }
  return [...newest.values()]
    .map(({ file: { platform, arch, format, signatureSchemes }, version }) => ({
      platform,
      arch,
      format,
      signatureSchemes,
      version: versionText(version),
    }))
    .sort(
      (a, b) =>
        PLATFORMS.indexOf(a.platform) - PLATFORMS.indexOf(b.platform) ||
        ARCHES.indexOf(a.arch) - ARCHES.indexOf(b.arch) ||
        FORMATS.indexOf(a.format) - FORMATS.indexOf(b.format),
    );
}
