import { PLATFORMS } from '../../domain/platform.ts';
import type { Artifact, Release } from '../../domain/release.ts';
import { compareSparkleVersions } from '../../domain/sparkle-version.ts';
import type { EarlierReleases } from '../../releases/publish/read-earlier.ts';
import { sparkleVersionOf } from '../../updaters/appcast/appcast.ts';

/**
 * Warns of a release that the clients of Sparkle and WinSparkle do not take for an update, because it was published
 * without the appcast that states its bundle version, or with a lower one.
 */
export function bundleVersionWarnings(
  release: Release,
  { previous }: Pick<EarlierReleases, 'previous'>,
): readonly string[] {
  if (previous === undefined) return [];
  return PLATFORMS.flatMap((platform) => {
    const ofPlatform = (file: Artifact): boolean => file.platform === platform;
    const before = previous.artifacts
      .filter((file) => ofPlatform(file) && file.bundleVersion !== undefined)
      .map((file) => sparkleVersionOf({ release: previous, file }));
    const now = release.artifacts
      .filter(ofPlatform)
      .map((file) => sparkleVersionOf({ release, file }));
    const [first] = before;
    const isNewer = now.some((each) =>
      before.every((other) => compareSparkleVersions(each, other) > 0),
    );
    if (first === undefined || now.length === 0 || isNewer) return [];
    return [
      `Warning: for ${platform}, ${previous.version} has the bundle version ${first}, and ${release.version} has ${now[0]}: Sparkle and WinSparkle compare these, and install no version that is not higher. Publish the appcast of ${release.version} with its files, or raise CFBundleVersion.`,
    ];
  });
}
