import { type Arch, archOf, type Format, type Platform } from './platform.ts';

/**
 * A document that its publisher signed, such as electron-builder's `latest-mac.yml`. It is stored and served byte for
 * byte, because its signature covers its text.
 */
export interface CarriedDocument {
  /** The name that clients ask for. Unique within the release. */
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  /** Hex. */
  readonly sha256: string;
  /** The place of its bytes, relative to the application: `releases/{version}/carried/{n}/{name}`. */
  readonly object: string;
}

/** The size of the largest document, in bytes. Services keep the documents of every release in memory. */
export const CARRIED_BYTES_MAX = 256 * 1024;

/**
 * The formats that update documents list, best first. The AppImage is first because older clients take the first file.
 * A portable program (`binary`) is never listed: it is not installed, and the client would start it as an installer. A
 * dmg is never listed either: no client reads it, and a dmg with `arm64` in its name would make the client ignore a
 * universal zip.
 */
export const UPDATE_INFO_FORMATS: FormatsByPlatform = {
  windows: ['nsis', 'nsis-web'],
  macos: ['zip'],
  linux: ['appimage', 'deb', 'rpm', 'pacman'],
};

/**
 * The names under which signed appcasts are stored. The names differ because clients ask for either appcast as
 * `appcast.xml`, and a release may have one for Sparkle and one for NetSparkle.
 */
export const SPARKLE_APPCAST = 'sparkle-appcast.xml';
export const NETSPARKLE_APPCAST = 'netsparkle-appcast.xml';
export const NETSPARKLE_APPCAST_SIGNATURE = 'netsparkle-appcast.xml.signature';

type FormatsByPlatform = Readonly<Record<Platform, readonly Format[]>>;

/** The formats that Sparkle unpacks and installs, best first. */
export const SPARKLE_FORMATS: FormatsByPlatform = {
  windows: [],
  macos: ['zip', 'tar.gz', 'tar.xz', 'dmg', 'pkg'],
  linux: [],
};

/** The formats that NetSparkle runs, opens or unpacks, best first. */
export const NETSPARKLE_FORMATS: FormatsByPlatform = {
  windows: ['nsis', 'msi'],
  macos: ['zip', 'tar.gz', 'pkg', 'dmg'],
  linux: ['tar.gz', 'deb', 'rpm'],
};

/** `{channel}.yml` for Windows, `{channel}-mac.yml`, `{channel}-linux.yml` for x64, `{channel}-linux-{arch}.yml`. */
const UPDATE_INFO_NAME = /^([\w.-]+?)(?:-(mac)|-(linux)(?:-([a-z0-9_]+))?)?\.yml$/;

/** The parts of the name of an update document. The name says which clients ask for the document. */
interface UpdateInfoName {
  readonly channel: string;
  readonly platform: Platform;
  /** Null when the document is for every architecture, or when the suffix names no known architecture. */
  readonly arch: Arch | null;
  /** The architecture as the name writes it; undefined when the name has none. */
  readonly suffix: string | undefined;
}

/** Reads the name that electron-builder gives an update document; undefined for any other name. */
export function parseUpdateInfoName(name: string): UpdateInfoName | undefined {
  const match = UPDATE_INFO_NAME.exec(name);
  const channel = match?.[1];
  if (match === null || channel === undefined) return undefined;
  const [, , mac, linux, suffix] = match;
  if (mac !== undefined) return { channel, platform: 'macos', arch: null, suffix };
  if (linux === undefined) return { channel, platform: 'windows', arch: null, suffix };
  const arch = suffix === undefined ? 'x64' : (archOf(suffix) ?? null);
  return { channel, platform: 'linux', arch, suffix };
}

/** True when clients on a machine ask for a document. Only the names for Linux state an architecture. */
export function isAskedBy(
  { platform, arch }: { readonly platform: Platform; readonly arch: Arch | null },
  name: string,
): boolean {
  const stated = parseUpdateInfoName(name);
  return stated?.platform === platform && (platform !== 'linux' || stated.arch === arch);
}

/**
 * The document for a machine, whatever channel its name states: a release that moves to another channel keeps its
 * documents. When several documents fit, the document for `latest` comes first.
 *
 * @param machine its architecture is null when the client does not state it
 */
export function findCarried<D extends Pick<CarriedDocument, 'name'>>(
  documents: readonly D[],
  machine: { readonly platform: Platform; readonly arch: Arch | null },
): D | undefined {
  const fitting = documents.filter(({ name }) => isAskedBy(machine, name));
  const isLatest = ({ name }: D) => parseUpdateInfoName(name)?.channel === 'latest';
  return fitting.find(isLatest) ?? fitting[0];
}

/** The formats that an appcast of this name may list; undefined for the name of any other document. */
function appcastFormats(name: string): FormatsByPlatform | undefined {
  if (name === SPARKLE_APPCAST) return SPARKLE_FORMATS;
  const isNetSparkles = name === NETSPARKLE_APPCAST || name === NETSPARKLE_APPCAST_SIGNATURE;
  return isNetSparkles ? NETSPARKLE_FORMATS : undefined;
}

/** True when a document of this name is for clients on a platform and architecture. */
export function isFor(
  machine: { readonly platform: Platform; readonly arch: Arch | null },
  name: string,
): boolean {
  const formats = appcastFormats(name);
  return formats === undefined ? isAskedBy(machine, name) : formats[machine.platform].length > 0;
}

/** True when a signed document of this name may list a file. */
export function mayList(
  file: { readonly platform: Platform; readonly arch: Arch; readonly format: Format },
  name: string,
): boolean {
  const formats = appcastFormats(name) ?? UPDATE_INFO_FORMATS;
  return isFor(file, name) && formats[file.platform].includes(file.format);
}
