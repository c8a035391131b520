import type { BuildOutput } from '../../builds/build-output.ts';
import { isDifferential } from '../../domain/companion.ts';
import { isNativeOn, machineName, nativeArches } from '../../domain/compatible-arches.ts';
import { PLATFORMS } from '../../domain/platform.ts';
import { type Artifact, findArtifact, type Release } from '../../domain/release.ts';
import { compareSparkleVersions } from '../../domain/sparkle-version.ts';
import { type Target, targetName } from '../../domain/target.ts';
import type { Repair } from '../../releases/files/hash-artifacts.ts';
import type { EarlierReleases } from '../../releases/files/read-earlier.ts';
import { checkCommonRelease } from '../../releases/publish/check-common-release.ts';
import type { PublishResult } from '../../releases/publish/publish-request.ts';
import { canRezip } from '../../releases/publish/rezip/rezip-artifact.ts';
import { sparkleVersionOf } from '../../updaters/appcast/appcast.ts';
import { isServed, PROTOCOLS } from '../../updaters/registry.ts';
import { tauri } from '../../updaters/tauri/tauri.ts';

/** The remarks of `slipway publish` about files that clients would not get, or would download as a whole. */

/** Warns of files that clients of the feeds would not get, because the publisher would not notice this otherwise. */
export function feedWarnings(release: Release): readonly string[] {
  const misnamed = PROTOCOLS.flatMap(({ warnOf }) =>
    release.artifacts.flatMap((artifact) => warnOf?.(artifact) ?? []),
  );
  return [...misnamed.map((sentence) => `Warning: ${sentence}`), ...unservedWarnings(release)];
}

function unservedWarnings({ artifacts }: Release): readonly string[] {
  const unserved = artifacts.filter((artifact) => !isServed(artifact));
  const served = artifacts.filter(isServed);
  const targets = new Map(
    unserved.map((artifact) => [machineName(artifact.platform, artifact.arch), artifact]),
  );
  return [...targets].map(([name, { platform, arch }]) => {
    const formats = unserved
      .filter((a) => a.platform === platform && a.arch === arch)
      .map(({ format }) => format);
    const what = `no updater feed can serve ${formats.join(', ')} for ${name}`;
    const machines = machinesOf({ platform, arch });
    const lacking = machines.filter((machine) => !served.some((a) => isFor(a, machine)));
    if (lacking.length === 0) {
      const others = served.filter((a) => machines.some((machine) => isFor(a, machine)));
      const beside = [...new Set(others.map(({ format }) => format))].join(', ');
      return `Note: ${what}; its updaters get the ${beside}.`;
    }
    // A program of its own format is for an updater of its own, which uses check-update.
    if (formats.every((format) => format === 'binary')) {
      return `Note: ${what}. Downloads and check-update offer it, for an updater of your own.`;
    }
    const where =
      lacking.length === machines.length ? 'there' : `for ${lacking.map(targetName).join(', ')}`;
    return `Warning: ${what}, and the release has nothing else ${where}. Downloads and check-update do offer it; "slipway feeds" shows what each updater takes.`;
  });
}

/** The machines of builds, each once. A build may be universal; a target never is. */
export function platformsOf(builds: readonly Build[]): string {
  return [...new Set(builds.map(({ platform, arch }) => machineName(platform, arch)))].join(', ');
}

type Build = Pick<Artifact, 'platform' | 'arch'>;

const machinesOf = ({ platform, arch }: Build): readonly Target[] =>
  nativeArches(arch).map((each) => ({ platform, arch: each }));

/** Emulation does not count: a machine that had a native build is not offered an emulated build. */
const isFor = (artifact: Artifact, { platform, arch }: Target): boolean =>
  artifact.platform === platform && isNativeOn(arch, artifact);

/**
 * Warns of a release that the clients of Sparkle and WinSparkle do not take for an update. The publisher left out the
 * appcast that states the bundle version, or the bundle version is not higher than before.
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

/**
 * Warns of files without a block map when the previous release had one. Clients then download more, and no client
 * reports this.
 */
export function blockmapWarnings(
  { artifacts }: Pick<Release, 'artifacts'>,
  { previous }: Pick<EarlierReleases, 'previous'>,
): readonly string[] {
  if (previous === undefined) return [];
  return artifacts
    .filter((artifact) => {
      const before = findArtifact(previous, artifact);
      return before !== undefined && isDifferential(before) && !isDifferential(artifact);
    })
    .map(
      ({ filename, format }) =>
        `Warning: ${filename} has no block map, and the ${format} of ${previous.version} has one: clients download the whole file. ${remedyOf(format)}`,
    );
}

/** Says what publishing made or accepted, because the build is not as its tool described it. */
export function repairSentences({ repairs }: Pick<PublishResult, 'repairs'>): readonly string[] {
  return repairs.flatMap(({ filename, kind }) => REPAIRS[kind]?.(filename) ?? []);
}

const REPAIRS: Readonly<Partial<Record<Repair['kind'], (filename: string) => string>>> = {
  signed_later: (filename) =>
    `${filename} was signed after the build: without its signature, it is the file that latest.yml describes. Clients get the hash of the signed file.`,
  rehashed: (filename) =>
    `${filename} is not the file that the build described. You accepted it with --rehash, so clients get the hash of its present bytes.`,
  blockmap_made: (filename) =>
    `Made ${filename}.blockmap, which the build did not write: clients use it to download only what changed.`,
  blockmap_unreadable: (filename) =>
    `Made ${filename}.blockmap again: the map that the build wrote cannot be read. Something changed or cut it off after it was built.`,
  blockmap_replaced: (filename) =>
    `Made ${filename}.blockmap again: the map that the build wrote does not fit, because the file was changed after it was built.`,
};

/** Warns of maps that publishing cannot make again, because they are inside a file whose hash others state. */
export function repairWarnings({ repairs }: Pick<PublishResult, 'repairs'>): readonly string[] {
  return repairs
    .filter(({ kind }) => kind === 'blockmap_ignored')
    .map(
      ({ filename }) =>
        `Warning: the block map at the end of ${filename} does not fit the file, so clients download the whole file. The file was changed after it was built: build again, and publish the file as it was built.`,
    );
}

/**
 * Tells the publisher of electron-builder's zip for macOS about `--rezip`: a differential download of that zip moves most
 * of it, and no client reports this.
 */
export function rezipNotes(
  { changed, rezipRemarks }: Pick<PublishResult, 'changed' | 'rezipRemarks'>,
  build: BuildOutput,
  { previous }: Pick<EarlierReleases, 'previous'>,
): readonly string[] {
  const zip = build.artifacts.find(
    (each) => canRezip(each) && previous !== undefined && findArtifact(previous, each),
  );
  if (!changed || rezipRemarks.length > 0 || zip === undefined) return [];
  return [
    `Note: a change in one script makes clients download most of ${zip.filename} again. With --rezip, given for each version, they download less: docs/publishing/build-tools.md in Slipway's repository.`,
  ];
}

function remedyOf(format: string): string {
  if (format === 'appimage') {
    return 'electron-builder writes the block map into the AppImage: publish the file as it was built.';
  }
  return format === 'nsis-web'
    ? 'electron-builder writes the block map into the package (….nsis.7z): publish it as it was built.'
    : 'Publish it from the directory of the build, with latest*.yml: Slipway then makes the block map.';
}

/**
 * Says why Tauri's latest.json does not state the release to some clients, in one sentence for each reason. That
 * document has one version for all platforms.
 */
export function latestJsonWarnings({
  application,
  channel,
  version,
  after,
  held,
}: Pick<
  PublishResult,
  'application' | 'channel' | 'version' | 'after' | 'held'
>): readonly string[] {
  const address = { path: ['latest.json'], query: {}, headers: {}, body: undefined };
  const question = tauri.parseRequest({ application, channel, ...address });
  if (held !== null || question?.machines === undefined) return [];
  const needs = checkCommonRelease(after, version, question.query, question.machines);
  if (needs === undefined) return [];
  const missing = exactNames(needs.missing);
  const gated = exactNames(needs.needsOsVersion);
  return [
    ...(missing.length === 0
      ? []
      : [
          `Note: Tauri's latest.json does not offer ${version} until that release has builds for ${missing.join(', ')}.`,
        ]),
    ...(needs.needsVersion
      ? [
          `Note: Tauri's latest.json offers ${version} only to clients that state their version, because of --requires. Their address has to end with ?current_version={{current_version}}.`,
        ]
      : []),
    ...(gated.length === 0
      ? []
      : [
          `Note: Tauri's latest.json offers the builds of ${version} for ${gated.join(', ')} only to clients that state the version of their system, because these builds have a minimum system version. Their address needs os_version=….${needs.isHeldByOsVersion ? ` Clients without it are not offered ${version} on any platform.` : ''}`,
        ]),
  ];
}

/**
 * Leaves out `linux-x86_64` when `linux-x86_64-appimage` is in the list: the longer name also says the bundle type. The
 * release may have another bundle type for the same machine.
 */
function exactNames(names: readonly string[]): readonly string[] {
  return names.filter((name) => !names.some((other) => other.startsWith(`${name}-`)));
}
