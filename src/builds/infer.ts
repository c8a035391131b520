import { type Arch, archOf, type Format, type Platform, platformOf } from '../domain/platform.ts';

/** Reads the facts that a file name alone states, for every build tool. */

interface NameClues {
  readonly platform?: Platform;
  readonly arch?: Arch;
  readonly format?: Format;
}

/** Longest suffix first. An entry states a platform when only one platform has the format. */
const SUFFIXES: readonly (readonly [string, Platform | undefined, Format | undefined])[] = [
  ['.app.tar.gz', 'macos', 'tar.gz'],
  // Updater bundles of Tauri 1 are archives of an installer. They are neither installers nor archives of an
  // application.
  ['.appimage.tar.gz', 'linux', undefined],
  ['.nsis.zip', 'windows', undefined],
  ['.msi.zip', 'windows', undefined],
  ['.pkg.tar.zst', 'linux', 'pacman'],
  ['.pkg.tar.xz', 'linux', 'pacman'],
  ['.tar.gz', undefined, 'tar.gz'],
  ['.tar.xz', undefined, 'tar.xz'],
  ['.tar.zst', undefined, 'tar.zst'],
  ['.tgz', undefined, 'tar.gz'],
  ['.zip', undefined, 'zip'],
  ['.7z', undefined, '7z'],
  ['.dmg', 'macos', 'dmg'],
  ['.pkg', 'macos', 'pkg'],
  ['.exe', 'windows', undefined],
  ['.msi', 'windows', 'msi'],
  ['.msix', 'windows', 'msix'],
  ['.msixbundle', 'windows', 'msix'],
  ['.appx', 'windows', 'msix'],
  ['.appxbundle', 'windows', 'msix'],
  ['.appimage', 'linux', 'appimage'],
  ['.deb', 'linux', 'deb'],
  ['.rpm', 'linux', 'rpm'],
  ['.pacman', 'linux', 'pacman'],
  ['.snap', 'linux', 'snap'],
  ['.flatpak', 'linux', 'flatpak'],
  ['.nupkg', undefined, undefined],
];

/** Aliases of architectures that are too common in names of applications. */
const NOT_AN_ARCH = new Set(['386', 'arm']);

/** Pure and total: any string gives a result; the result is empty when the name states no fact. */
export function inferFromName(name: string): NameClues {
  const lower = name.toLowerCase();
  const suffix = SUFFIXES.find(([end]) => lower.endsWith(end) && lower.length > end.length);
  const platform = suffix?.[1] ?? platformInName(lower);
  const arch = archInName(name);
  const format = lower.endsWith('.exe') ? formatOfExe(lower) : suffix?.[2];
  return {
    ...(platform === undefined ? {} : { platform }),
    ...(arch === undefined ? {} : { arch }),
    ...(format === undefined ? {} : { format }),
  };
}

/** True when the name has the suffix of a package. */
export function looksLikePackage(name: string): boolean {
  const lower = name.toLowerCase();
  return SUFFIXES.some(([end]) => lower.endsWith(end) && lower.length > end.length);
}

/**
 * `…Setup….exe` is an NSIS installer of electron-builder or Tauri, and `…portable….exe` a program that runs without
 * installation. A file with any other name may be either, so the publisher has to state its format.
 */
function formatOfExe(lower: string): Format | undefined {
  if (/portable/.test(lower)) return 'binary';
  if (isWebInstaller(lower)) return 'nsis-web';
  return /setup|installer/.test(lower) ? 'nsis' : undefined;
}

/**
 * True for a name such as `App Web Setup 1.0.0.exe`, which electron-builder gives a web installer. A web installer
 * downloads the package that it installs.
 */
export function isWebInstaller(name: string): boolean {
  return /\.exe$/i.test(name) && /(?:^|[ _.-])web[ _.-]?setup/i.test(name);
}

/** True for a package that a web installer downloads, such as `app-1.0.0-x64.nsis.7z`. */
export function isWebPackage(name: string): boolean {
  return /\.nsis\.7z$/i.test(name);
}

/**
 * The architecture that a name states: the last architecture after the version, else the only architecture in the name.
 */
export function archInName(name: string): Arch | undefined {
  const version = /\d{1,9}\.\d{1,9}\.\d{1,9}/.exec(name);
  const after = version === null ? undefined : lastArch(name.slice(version.index));
  return after ?? onlyOne(archesIn(name));
}

function lastArch(text: string): Arch | undefined {
  return archesIn(text).at(-1);
}

function archesIn(text: string): Arch[] {
  return words(text).flatMap((word) => {
    if (word === 'win64') return ['x64' as const];
    const arch = NOT_AN_ARCH.has(word) ? undefined : archOf(word);
    return arch === undefined ? [] : [arch];
  });
}

function platformInName(lower: string): Platform | undefined {
  return onlyOne(words(lower).flatMap((word) => platformOf(word) ?? []));
}

function words(text: string): string[] {
  return text
    .toLowerCase()
    .replace(/x86[_-]64/g, 'x64')
    .split(/[^\p{L}\p{N}]+/u);
}

function onlyOne<T>(found: readonly T[]): T | undefined {
  return new Set(found).size === 1 ? found[0] : undefined;
}
