import type { Arch, Format } from '../../domain/platform.ts';
import type { UpdateQuery } from '../../domain/update-query.ts';

/** The words in the addresses and documents of Tauri's updater. */

/** The document for all clients. */
export const LATEST = 'latest.json';

/**
 * The formats for a client that does not state its bundle type. On Linux only AppImage: a client that was installed
 * from an AppImage refuses other formats, and other clients refuse an AppImage.
 */
export const FORMATS_BY_PLATFORM: Readonly<Record<UpdateQuery['platform'], readonly Format[]>> = {
  windows: ['nsis', 'msi'],
  macos: ['tar.gz'],
  linux: ['appimage'],
};

/** All formats that the client can install, with any bundle type. */
export const INSTALLABLE: typeof FORMATS_BY_PLATFORM = {
  windows: ['nsis', 'msi'],
  macos: ['tar.gz'],
  linux: ['appimage', 'deb', 'rpm'],
};

/** Formats by Tauri's names of its bundle types. */
export const FORMATS_BY_BUNDLE: Readonly<Record<string, Format>> = {
  app: 'tar.gz',
  appimage: 'appimage',
  deb: 'deb',
  msi: 'msi',
  nsis: 'nsis',
  rpm: 'rpm',
};
/** Texts in the place of a bundle type that state none. */
export const NOT_STATED = new Set(['', 'unknown', '{{bundle_type}}']);

/** The words that the client has for operating systems and architectures. */
export const SYSTEMS: Readonly<Record<string, UpdateQuery['platform']>> = {
  windows: 'windows',
  darwin: 'macos',
  linux: 'linux',
};
export const ARCHES: Readonly<Record<string, Arch>> = {
  x86_64: 'x64',
  aarch64: 'arm64',
  i686: 'ia32',
  armv7: 'armv7',
  universal: 'universal',
};
