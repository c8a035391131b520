import { admittedArches, isNativeOn } from '../../domain/compatible-arches.ts';
import type { Arch, Format } from '../../domain/platform.ts';
import type { Artifact, Release } from '../../domain/release.ts';
import { SPARKLE_ED25519 } from '../../domain/signature.ts';
import { type AppcastItem, chooseFile } from '../appcast/appcast.ts';
import { appcastAddress } from '../appcast/appcast-addresses.ts';
import { listAppcastAddresses, listedAppcast } from '../appcast/appcast-feed.ts';
import type { FeedProtocol, OlderReleases } from '../protocol.ts';
import { describeWinSparkleSetUp } from '../sparkle/sparkle-set-up.ts';

const FORMATS: readonly Format[] = ['nsis', 'msi'];

/**
 * WinSparkle.
 *
 * `GET {base}/appcast.xml`. The client reads items whose `sparkle:os` is `windows` or names the client's own build,
 * such as `windows-x64`. It takes the newest of these items whose minimum version its Windows meets. So the document
 * has one item for each architecture that a release has a build for. Older clients read only one enclosure of an item.
 *
 * The client runs the file that it downloads, so archives are not listed.
 */
export const winsparkle: FeedProtocol = {
  shape: 'feed',
  name: 'winsparkle',
  title: 'WinSparkle (Windows)',
  takesPost: false,
  addresses: [appcastAddress('getWinSparkleAppcast', 'WinSparkle')],
  varyHeaders: [],
  formatsFor: (platform) => (platform === 'windows' ? FORMATS : []),
  expectedSignature: SPARKLE_ED25519,
  mayOmit: () => ['version', 'arch'],
  listStatic: listAppcastAddresses,
  describeSetUp: describeWinSparkleSetUp,
  ...listedAppcast({ platform: 'windows', formats: FORMATS, rendersMarkdown: false, itemsOf }),
};

/** WinSparkle's words for the architecture of a client's own build. Any client takes `windows`. */
const OS: Readonly<Partial<Record<Arch, string>>> = {
  x64: 'windows-x64',
  arm64: 'windows-arm64',
  ia32: 'windows-x86',
  universal: 'windows',
};
const EVERY_BUILD: readonly Arch[] = ['x64', 'arm64', 'ia32', 'universal'];

function itemsOf(
  releases: readonly Release[],
  { arch }: Pick<OlderReleases, 'arch'>,
): readonly AppcastItem[] {
  const builds = arch === null ? EVERY_BUILD : admittedArches('windows', arch);
  return releases.flatMap((release) => {
    // A client ignores items for another architecture than its own, even items whose build runs on the client's machine
    // by emulation.
    const isOnlyEmulated =
      arch !== null && !release.artifacts.some((file) => isBuildFor(file, arch));
    return builds.flatMap((build) => {
      const os = isOnlyEmulated ? 'windows' : OS[build];
      const artifacts = release.artifacts.filter((file) => file.arch === build);
      const wanted = { platform: 'windows', arch: build, formats: FORMATS } as const;
      const file = chooseFile({ artifacts }, wanted);
      return file === undefined || os === undefined ? [] : [{ release, file, os }];
    });
  });
}

function isBuildFor(file: Artifact, arch: Arch): boolean {
  return file.platform === 'windows' && FORMATS.includes(file.format) && isNativeOn(arch, file);
}
