import { UPDATE_INFO_FORMATS } from '../../domain/carried-document.ts';
import { BLOCKMAP, type UpdaterFacts, WEB_PACKAGE } from '../../domain/companion.ts';
import { admittedArches, isNativeOn } from '../../domain/compatible-arches.ts';
import {
  compareOsVersions,
  darwinVersionOfMacos,
  parseOsVersion,
} from '../../domain/os-version.ts';
import type { Arch } from '../../domain/platform.ts';
import type { Artifact, Release } from '../../domain/release.ts';
import type { UpdateQuery } from '../../domain/update-query.ts';

/** What electron-updater calls `UpdateInfo`: a release, and the files from which the client chooses. */

interface Listing extends Pick<UpdateQuery, 'platform' | 'arch'> {
  readonly release: Release;
  /** The address of a file, absolute or relative to the document. */
  urlOf(filename: string): string;
}

export type ElectronUpdateInfo = NonNullable<ReturnType<typeof describeElectronUpdate>>;

/** @returns undefined when the release has no file for the machine that the client would choose rightly */
export function describeElectronUpdate({ release, urlOf, ...machine }: Listing) {
  const { version } = release;
  const artifacts = listFiles(release, machine);
  if (artifacts.length === 0) return undefined;
  const files = artifacts.map((artifact) => describeFile(artifact, urlOf(artifact.filename)));
  const packages = describePackages(artifacts, urlOf);
  const minimum = minimumSystemVersion(artifacts);
  return {
    version,
    files,
    // For clients before 2.15, and for other updaters that imitate these clients.
    path: files[0]?.url,
    sha512: files[0]?.sha512,
    ...packages,
    releaseDate: release.releasedAt,
    ...(release.name === null ? {} : { releaseName: release.name }),
    ...(release.notes.und === undefined ? {} : { releaseNotes: release.notes.und }),
    ...(minimum === undefined ? {} : { minimumSystemVersion: minimum }),
  };
}

/** The files from which a client chooses. The client knows its own architecture, but the service may not. */
function listFiles(
  release: Release,
  { platform, arch }: Pick<UpdateQuery, 'platform' | 'arch'>,
): readonly Artifact[] {
  const formats = UPDATE_INFO_FORMATS[platform];
  const arches: readonly Arch[] = arch === null ? UNSTATED_ARCHES : admittedArches(platform, arch);
  const files = release.artifacts
    .filter((a) => a.platform === platform && formats.includes(a.format))
    .filter((a) => arches.includes(a.arch))
    .sort(
      (a, b) =>
        formats.indexOf(a.format) - formats.indexOf(b.format) ||
        arches.indexOf(a.arch) - arches.indexOf(b.arch),
    );
  const [first] = files;
  // The client passes the files in `packages` to any installer, so a document with `packages` lists only a web
  // installer.
  if (first?.format === 'nsis-web') return [first];
  const complete = files.filter(({ format }) => format !== 'nsis-web');
  const native = arch === null ? [] : complete.filter((file) => isNativeOn(arch, file));
  const listed = native.length > 0 ? native : complete;
  const choosable = listed.filter((file) => !isMistakable(file, arch));
  return platform === 'macos' && arch === null ? orderForMacs(choosable) : choosable;
}

/**
 * Best first, for clients that take the first file. The universal file is an NSIS installer for several architectures.
 */
const UNSTATED_ARCHES: readonly Arch[] = ['universal', 'x64', 'arm64', 'ia32', 'armv7'];

/**
 * Orders archives as electron-builder does in its own feed (`writeUpdateInfoFiles`): x64, arm64, universal. An Intel
 * Mac takes the first archive without `arm64` in its name. A Mac with Apple silicon takes the archive with `arm64` in
 * its name, or the first archive when no name contains `arm64`. Without an arm64 archive, the universal archive stays
 * first. Otherwise a Mac with Apple silicon would get the x64 archive in place of a native build.
 */
function orderForMacs(files: readonly Artifact[]): readonly Artifact[] {
  if (!files.some(({ arch }) => arch === 'arm64')) return files;
  return [
    ...files.filter(({ arch }) => arch !== 'universal'),
    ...files.filter(({ arch }) => arch === 'universal'),
  ];
}

/**
 * True when a client chooses the file wrongly by its name. On macOS, an Intel client takes only a file without `arm64`
 * in its name. On Windows, a client takes the file whose name contains the client's `process.arch`, else the first
 * file.
 *
 * @param arch of the machine; null when the client does not state it
 */
function isMistakable({ platform, arch: build, filename }: Named, arch: Arch | null): boolean {
  if (platform === 'macos' && arch !== 'arm64') {
    return filename.includes('arm64') !== (build === 'arm64');
  }
  return platform === 'windows' && arch === null && build === 'arm64' && filename.includes('x64');
}

type Named = Pick<Artifact, 'platform' | 'arch' | 'format' | 'filename'>;

/** Says why the feed leaves a file out for some of its clients; undefined when no client misses the file. */
export function warnOfElectronName(file: Named): string | undefined {
  const { platform, arch, format, filename } = file;
  if (!UPDATE_INFO_FORMATS[platform].includes(format) || !isMistakable(file, null))
    return undefined;
  const clients = arch === 'arm64' ? 'clients that do not send ?arch=' : 'Intel Macs';
  return `${filename} ${whyMistakable(platform, arch)}. electron-updater chooses files by their names, so the feed leaves it out for ${clients}. Publish it under a name with its architecture: put \${arch} into artifactName.`;
}

function whyMistakable(platform: Artifact['platform'], arch: Arch): string {
  if (arch !== 'arm64') return `has "arm64" in its name and is for ${arch}`;
  return platform === 'macos'
    ? 'is for arm64 and does not have "arm64" in its name'
    : 'is for arm64 and has "x64" in its name';
}

function describeFile(artifact: Artifact, url: string) {
  const { sha512, size, companions, blockMapSize, needsAdminRights } = artifact;
  const beside = companions.find(({ kind }) => kind === BLOCKMAP);
  const facts = { blockMapSize: beside?.size ?? blockMapSize, needsAdminRights };
  return { url, sha512: base64(sha512), size, ...describeFacts(facts) };
}

function describeFacts({ blockMapSize, needsAdminRights }: Stated<UpdaterFacts>) {
  return {
    ...(blockMapSize === undefined ? {} : { blockMapSize }),
    ...(needsAdminRights === true ? { isAdminRightsRequired: true } : {}),
  };
}

type Stated<T> = { readonly [K in keyof T]: T[K] | undefined };

/** The packages of a web installer, by the client's `process.arch`. */
function describePackages(
  artifacts: readonly Artifact[],
  urlOf: (filename: string) => string,
): { packages?: Record<string, object> } {
  const packages = artifacts
    .flatMap(({ companions }) => companions)
    .filter(({ kind }) => kind === WEB_PACKAGE);
  if (packages.length === 0) return {};
  return {
    packages: Object.fromEntries(
      packages.map(({ arch = 'x64', filename, sha512, size, ...facts }) => [
        arch,
        { path: urlOf(filename), sha512: base64(sha512), size, ...describeFacts(facts) },
      ]),
    ),
  };
}

function base64(hex: string): string {
  return Buffer.from(hex, 'hex').toString('base64');
}

/**
 * The minimum that the client compares with `os.release()`: the version of the kernel. On macOS, this is not the
 * version of the product.
 *
 * This is the highest minimum of all files, because an update that cannot start breaks the application. It always has
 * three numbers, because the client installs the update when it cannot parse the minimum.
 */
function minimumSystemVersion(artifacts: readonly Artifact[]): string | undefined {
  const [highest] = artifacts
    .flatMap(({ minimumOsVersion }) => {
      const parsed = parseOsVersion(minimumOsVersion ?? '');
      return parsed === undefined ? [] : [parsed];
    })
    .sort((a, b) => compareOsVersions(b, a));
  const platform = artifacts[0]?.platform;
  if (highest === undefined) return undefined;
  if (platform === 'macos') return darwinVersionOfMacos(highest.join('.'));
  const [major, minor = 0, patch = 0, ...finer] = highest;
  // No kernel reports a fourth number, so only a higher third number surely satisfies such a minimum.
  const three = [major, minor, finer.some((n) => n > 0) ? patch + 1 : patch].join('.');
  // Distributions name kernels like 6.1.0-18-amd64, which the client treats as a pre-release of 6.1.0.
  return platform === 'linux' ? `${three}-0` : three;
}
