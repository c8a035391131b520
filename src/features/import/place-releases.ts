import { isAppError } from '../../core/errors.ts';
import { parseChannelName } from '../../domain/channel.ts';
import { parseVersion } from '../../domain/version.ts';
import type { SourceRelease } from './sources/source.ts';

/** The channels of the releases of another server. */

export interface PlacedRelease {
  readonly release: SourceRelease;
  readonly channel: string;
  /** Says why the import cannot use the channel that the source states; undefined: the channel is usable. */
  readonly problem?: string;
}

/** The channel of a pre-release whose version has no word: `1.0.0-1`. */
const PRERELEASE_CHANNEL = 'beta';

/**
 * Chooses a channel for each release. When the source states no channel, a pre-release gets the channel for
 * pre-releases, and any other release gets the channel for other releases.
 *
 * @throws AppError `invalid_name` for a channel of the request
 */
export function placeReleases(request: {
  readonly releases: readonly SourceRelease[];
  readonly channel: string;
  readonly prereleaseChannel: string | undefined;
}): readonly PlacedRelease[] {
  const { releases, channel, prereleaseChannel } = request;
  const ordinary = parseChannelName(channel);
  const forAll = prereleaseChannel === undefined ? undefined : parseChannelName(prereleaseChannel);
  return releases.map((release) => {
    if (release.channel !== null) return { release, ...statedChannel(release.channel) };
    const prerelease = forAll ?? wordOf(release.version);
    const chosen = release.isPrerelease ? prerelease : ordinary;
    return { release, channel: chosen };
  });
}

function statedChannel(name: string): Pick<PlacedRelease, 'channel' | 'problem'> {
  try {
    return { channel: parseChannelName(name) };
  } catch (error) {
    if (!isAppError(error, 'invalid_name')) throw error;
    return { channel: name, problem: error.message };
  }
}

/** Returns `beta` for `1.0.0-beta.2` and for `1.0.0-beta2`. */
function wordOf(version: string): string {
  const [first] = parseVersion(version).prerelease;
  const word = /^[a-z]{2,}/i.exec(String(first ?? ''))?.[0];
  return word?.toLowerCase() ?? PRERELEASE_CHANNEL;
}
