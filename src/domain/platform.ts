import { AppError } from '../core/errors.ts';

/** Operating systems, processor architectures and package formats, and their aliases. */

export const PLATFORMS = ['windows', 'macos', 'linux'] as const;
export type Platform = (typeof PLATFORMS)[number];

export const ARCHES = ['x64', 'arm64', 'ia32', 'armv7', 'universal'] as const;
export type Arch = (typeof ARCHES)[number];

export const FORMATS = [
  'nsis',
  'nsis-web',
  'msi',
  'msix',
  'squirrel',
  'squirrel-setup',
  'velopack',
  'velopack-setup',
  'dmg',
  'pkg',
  'zip',
  'appimage',
  'deb',
  'rpm',
  'pacman',
  'snap',
  'flatpak',
  'tar.gz',
  'tar.xz',
  'tar.zst',
  '7z',
  'binary',
] as const;
export type Format = (typeof FORMATS)[number];

const PLATFORM_ALIASES: Readonly<Record<string, Platform>> = {
  windows: 'windows',
  win: 'windows',
  win32: 'windows',
  win64: 'windows',
  macos: 'macos',
  mac: 'macos',
  osx: 'macos',
  darwin: 'macos',
  linux: 'linux',
};

const ARCH_ALIASES: Readonly<Record<string, Arch>> = {
  x64: 'x64',
  x86_64: 'x64',
  'x86-64': 'x64',
  amd64: 'x64',
  arm64: 'arm64',
  aarch64: 'arm64',
  ia32: 'ia32',
  x86: 'ia32',
  i386: 'ia32',
  i486: 'ia32',
  i586: 'ia32',
  i686: 'ia32',
  386: 'ia32',
  armv7: 'armv7',
  armv7l: 'armv7',
  armv7hl: 'armv7',
  armhf: 'armv7',
  arm: 'armv7',
  universal: 'universal',
  universal2: 'universal',
};

const FORMAT_ALIASES: Readonly<Record<string, Format>> = {
  ...Object.fromEntries(FORMATS.map((format) => [format, format])),
  'app.tar.gz': 'tar.gz',
  tgz: 'tar.gz',
  app: 'tar.gz',
  nupkg: 'squirrel',
  msixbundle: 'msix',
  appx: 'msix',
};

function lookUp<T>(table: Readonly<Record<string, T>>, word: string): T | undefined {
  const key = word.toLowerCase();
  return Object.hasOwn(table, key) ? table[key] : undefined;
}

/** The platform that an alias means (`win32`, `darwin`, `osx`, …); undefined for an unknown word. */
export function platformOf(word: string): Platform | undefined {
  return lookUp(PLATFORM_ALIASES, word);
}

/** The architecture that an alias means (`x86_64`, `aarch64`, …); undefined for an unknown word. */
export function archOf(word: string): Arch | undefined {
  return lookUp(ARCH_ALIASES, word);
}

/** @throws AppError `unknown_platform` */
export function parsePlatform(word: string, pointer = '/platform'): Platform {
  return platformOf(word) ?? refuse('unknown_platform', 'platform', word, PLATFORMS, pointer);
}

/** @throws AppError `unknown_arch` */
export function parseArch(word: string, pointer = '/arch'): Arch {
  return archOf(word) ?? refuse('unknown_arch', 'architecture', word, ARCHES, pointer);
}

/** @throws AppError `unknown_format` */
export function parseFormat(word: string, pointer = '/format'): Format {
  return lookUp(FORMAT_ALIASES, word) ?? refuse('unknown_format', 'format', word, FORMATS, pointer);
}

/**
 * A platform with or without its architecture, as in a download URL: `macos`, `win32-x64`,
 * `darwin-aarch64`.
 *
 * @throws AppError `unknown_platform`, `unknown_arch`
 */
export function parsePlatformAndArch(word: string): { platform: Platform; arch?: Arch } {
  const bare = platformOf(word);
  if (bare !== undefined) return { platform: bare };
  const dash = word.indexOf('-');
  const platform = dash > 0 ? platformOf(word.slice(0, dash)) : undefined;
  if (platform === undefined)
    return refuse('unknown_platform', 'platform', word, PLATFORMS, '/platform');
  return { platform, arch: parseArch(word.slice(dash + 1)) };
}

function refuse(
  code: 'unknown_platform' | 'unknown_arch' | 'unknown_format',
  noun: string,
  word: string,
  choices: readonly string[],
  pointer: string,
): never {
  const detail = `${JSON.stringify(word.slice(0, 64))} is not a known ${noun}; use one of ${choices.join(', ')}.`;
  throw new AppError(code, detail, { issues: [{ pointer, detail }] });
}
