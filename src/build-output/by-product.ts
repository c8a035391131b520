/** What build tools leave beside their packages and nobody publishes. */

const DIRECTORIES: readonly (readonly [RegExp, string])[] = [
  [/-unpacked$/i, 'an unpacked application of electron-builder'],
  [/\.app$/i, 'an application bundle; the archive of it is what is published'],
  [/\.AppDir$/, 'a staging directory of an AppImage'],
  [/^\.icon-/, 'icons made for the build'],
  [/^__/, 'a staging directory of electron-builder'],
  [/\.dSYM$/i, 'debug symbols'],
  [/^node_modules$/, 'packages of the build itself'],
  [
    /-(darwin|mas|win32|linux)-(x64|arm64|ia32|armv7l|universal)$/,
    'an unpacked application of Electron Forge',
  ],
];

/** Inside Tauri's `bundle/`, these kinds stage a directory of the package's own name. */
const TAURI_STAGES = new Set(['deb', 'rpm', 'appimage', 'appimage_deb']);

const FILES: readonly (readonly [RegExp, string])[] = [
  [/^builder-(debug|effective-config)\.ya?ml$/i, 'a report of electron-builder'],
  [/^(app-update|dev-app-update)\.ya?ml$/i, 'configuration of an application'],
  [/^(\.DS_Store|Thumbs\.db|desktop\.ini)$/i, 'written by a file browser'],
  [/^__?uninstaller.*\.exe$/i, 'an uninstaller, already inside the installer'],
  [/^assets\..+\.json$/i, "Velopack's note of what it built"],
  [/^RELEASES\.json$/i, "Electron Forge's update manifest; this service answers updaters itself"],
  [/^latest\.json$/i, "Tauri's update manifest; this service answers updaters itself"],
  [/^(bundle_dmg\.sh|build_appimage\.sh|icon\.icns)$/i, 'a tool of the build'],
  [/^rw\..*\.dmg$/i, 'an unfinished disk image'],
  [
    /\.(pdb|dbg|sym|debug|map)$|[-.]dsym\.(zip|tar\.gz)$|[-.]symbols?\.(zip|tar\.gz)$/i,
    'debug symbols',
  ],
  [/-delta\.nupkg$/i, 'a delta: deltas are not served yet'],
  [
    /\.(asc|sha1|sha256|sha512|md5)$|^(sha\d+sums|checksums).*\.txt$/i,
    'checksums; this service publishes its own',
  ],
];

/** Archives that only Tauri 1's updater reads: an installer wrapped in a zip or a tar. */
const TAURI_1_UPDATER = /\.(nsis|msi)\.zip$|\.AppImage\.tar\.gz$/i;
export const TAURI_1_REASON =
  'an updater bundle of Tauri 1: a client that wants the installer must not get an archive of it, and Tauri 2 updates from the installer';

/** Why nobody publishes the file, or undefined. */
export function fileByProduct(name: string): string | undefined {
  if (TAURI_1_UPDATER.test(name)) return TAURI_1_REASON;
  const known = FILES.find(([pattern]) => pattern.test(name))?.[1];
  return known ?? (name.startsWith('.') ? 'hidden' : undefined);
}

/** What {@link directoryByProduct} needs to know of a directory. */
export interface DirectoryFacts {
  readonly name: string;
  readonly parent: string;
  /** Names in it. */
  readonly children: readonly string[];
  /** Names beside it. */
  readonly siblings: readonly string[];
}

/** Why the directory is not looked into, or undefined when it is. */
export function directoryByProduct(directory: DirectoryFacts): string | undefined {
  const { name, parent, children, siblings } = directory;
  const known = DIRECTORIES.find(([pattern]) => pattern.test(name))?.[1];
  if (known !== undefined) return known;
  if (name.startsWith('.')) return 'hidden';
  if (/^(mac|mas|mas-dev)(-arm64|-universal|-x64)?$/.test(name) && holdsOnlyApps(children)) {
    return 'application bundles of electron-builder; the archives of them are what is published';
  }
  if (
    TAURI_STAGES.has(parent) &&
    children.some((child) => /^(data|control|usr|DEBIAN)$/.test(child))
  ) {
    return 'a staging directory of Tauri';
  }
  if (name === 'share' && siblings.some((sibling) => /^(dmg|macos)$/.test(sibling))) {
    return 'a staging directory of Tauri';
  }
  return cargoByProduct(directory);
}

/** Cargo's `release/` holds gigabytes of objects around the one folder of packages. */
function cargoByProduct({ name, siblings }: DirectoryFacts): string | undefined {
  const inProfile = siblings.includes('.fingerprint') || siblings.includes('.cargo-lock');
  if (inProfile && name !== 'bundle') return 'what Cargo compiled';
  if (name === 'debug' && siblings.includes('.rustc_info.json')) return 'a debug build';
  return undefined;
}

function holdsOnlyApps(children: readonly string[]): boolean {
  return children.every((child) => /\.(app|dSYM)$/i.test(child) || child === '.DS_Store');
}
