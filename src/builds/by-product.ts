/** Files that build tools leave beside their packages and that are not published. */

const DIRECTORIES: readonly (readonly [RegExp, string])[] = [
  [/-unpacked$/i, 'an unpacked application of electron-builder'],
  [/\.app$/i, 'an application bundle; its archive is published instead'],
  [/\.AppDir$/, 'a staging directory of an AppImage'],
  [/^\.icon-/, 'icons made for the build'],
  [/^__/, 'a staging directory of electron-builder'],
  [/\.dSYM$/i, 'debug symbols'],
  [/^old_updates$/, 'older updates that generate_appcast put aside'],
  [/^node_modules$/, 'dependencies of the build'],
  [
    /-(darwin|mas|win32|linux)-(x64|arm64|ia32|armv7l|universal)$/,
    'an unpacked application of Electron Forge',
  ],
];

/** Folders in Tauri's `bundle/` that contain staging directories with the name of the package. */
const TAURI_STAGES = new Set(['deb', 'rpm', 'appimage', 'appimage_deb']);

const FILES: readonly (readonly [RegExp, string])[] = [
  [/^builder-(debug|effective-config)\.ya?ml$/i, 'a report of electron-builder'],
  [/^(app-update|dev-app-update)\.ya?ml$/i, 'configuration of an application'],
  [/^(\.DS_Store|Thumbs\.db|desktop\.ini)$/i, 'written by a file browser'],
  [/^__?uninstaller.*\.exe$/i, 'an uninstaller, already inside the installer'],
  [/^assets\..+\.json$/i, "Velopack's list of the files it built"],
  [/^RELEASES\.json$/i, "Electron Forge's update manifest; this service generates its own"],
  [/^latest\.json$/i, "Tauri's update manifest; this service generates its own"],
  [/^(bundle_dmg\.sh|build_appimage\.sh|icon\.icns)$/i, 'a tool that the build uses'],
  [/^rw\..*\.dmg$/i, 'an unfinished disk image'],
  [
    /\.(pdb|dbg|sym|debug|map)$|[-.]dsym\.(zip|tar\.gz)$|[-.]symbols?\.(zip|tar\.gz)$/i,
    'debug symbols',
  ],
  [
    /\.(asc|sha1|sha256|sha512|md5)$|^(sha\d+sums|checksums).*\.txt$/i,
    'checksums; this service publishes its own',
  ],
];

/** Archives that only the updater of Tauri 1 reads: an installer in a zip or a tar. */
const TAURI_1_UPDATER = /\.(nsis|msi)\.zip$|\.AppImage\.tar\.gz$/i;
const TAURI_1_REASON =
  'an updater bundle of Tauri 1: Tauri 2 updates from the installer itself, and other clients cannot use an archive of it';

/** Says why the file is not published; undefined for any other file. */
export function fileByProduct(name: string): string | undefined {
  if (TAURI_1_UPDATER.test(name)) return TAURI_1_REASON;
  const known = FILES.find(([pattern]) => pattern.test(name))?.[1];
  return known ?? (name.startsWith('.') ? 'hidden' : undefined);
}

/** The facts about a directory that {@link directoryByProduct} needs. */
interface DirectoryFacts {
  readonly name: string;
  readonly parent: string;
  /** The names in the directory. */
  readonly children: readonly string[];
  /** The names beside the directory. */
  readonly siblings: readonly string[];
}

/** Says why the directory is skipped; undefined for any other directory. */
export function directoryByProduct(directory: DirectoryFacts): string | undefined {
  const { name, parent, children, siblings } = directory;
  const known = DIRECTORIES.find(([pattern]) => pattern.test(name))?.[1];
  if (known !== undefined) return known;
  if (name.startsWith('.')) return 'hidden';
  if (/^(mac|mas|mas-dev)(-arm64|-universal|-x64)?$/.test(name) && holdsOnlyApps(children)) {
    return 'application bundles of electron-builder; their archives are published instead';
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

/** Cargo's `release/` has gigabytes of objects beside the folder of packages. */
function cargoByProduct({ name, siblings }: DirectoryFacts): string | undefined {
  const inProfile = siblings.includes('.fingerprint') || siblings.includes('.cargo-lock');
  if (inProfile && name !== 'bundle') return 'compiled objects of Cargo';
  if (name === 'debug' && siblings.includes('.rustc_info.json')) return 'a debug build';
  return undefined;
}

function holdsOnlyApps(children: readonly string[]): boolean {
  return children.every((child) => /\.(app|dSYM)$/i.test(child) || child === '.DS_Store');
}
