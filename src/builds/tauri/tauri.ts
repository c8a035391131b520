import { type Arch, archOf } from '../../domain/platform.ts';
import type { Clues, Evidence } from '../clues.ts';
import { archInName } from '../infer.ts';
import type { SourceFile } from '../source-file.ts';
import { beside } from '../source-file.ts';

/**
 * Tauri writes `target[/TRIPLE]/release/bundle/{dmg,macos,nsis,msi,appimage,deb,rpm}`. Every name states its
 * architecture except the updater's `App.app.tar.gz`. `tauri-signature.ts` reads the signatures (`.sig`).
 *
 * Tauri 1's `.nsis.zip`, `.msi.zip` and `.AppImage.tar.gz` are published only when a descriptor states their format:
 * see `by-product.ts`.
 */

/** `aarch64-apple-darwin`, `x86_64-pc-windows-msvc`, `universal-apple-darwin`, … */
const TRIPLE =
  /^(aarch64|x86_64|i686|armv7|universal)-[a-z0-9]+-(darwin|windows|linux)(-[a-z0-9]+)?$/;
const APP_ARCHIVE = /\.app\.tar\.gz$/i;
const INSTALLER = /_(x64|x86|arm64)-setup\.exe$/i;

export function cluesOfTauri(file: SourceFile): Clues | undefined {
  const isTauri = isInBundle(file) || APP_ARCHIVE.test(file.name) || INSTALLER.test(file.name);
  if (!isTauri) return undefined;
  const triple = tripleEvidence(file);
  return {
    ...(INSTALLER.test(file.name) ? { platform: 'windows', format: 'nsis' } : {}),
    ...(triple === undefined ? {} : { arch: triple }),
  };
}

/** True for the name of the updater's archive for macOS. Such a name need not state the architecture. */
export function isAppArchive(name: string): boolean {
  return APP_ARCHIVE.test(name);
}

/**
 * Adds the architecture to a name, as tauri-action does: `App_aarch64.app.tar.gz` for `App.app.tar.gz`. Otherwise the
 * archives of two architectures would have the same name.
 */
export function appArchiveName(name: string, arch: Arch): string {
  if (archInName(name) !== undefined) return name;
  const word = arch === 'arm64' ? 'aarch64' : arch;
  return name.replace(APP_ARCHIVE, (suffix) => `_${word}${suffix}`);
}

/**
 * The architecture that the names of the disk images state; undefined when they state several or none. The disk images
 * are the last evidence for `App.app.tar.gz`.
 */
export function diskImageEvidence(
  file: SourceFile,
  diskImages: readonly string[],
): Evidence | undefined {
  const arches = new Set(diskImages.map(archInName));
  const [arch] = arches;
  if (arches.size !== 1 || arch === undefined) return undefined;
  return { arch, source: `the disk image beside ${beside(file, file.name)}` };
}

function isInBundle(file: SourceFile): boolean {
  return file.folders.at(-2) === 'bundle' || /^(macos|nsis)$/.test(file.folders.at(-1) ?? '');
}

function tripleEvidence(file: SourceFile): Evidence | undefined {
  const triple = file.folders.findLast((folder) => TRIPLE.test(folder));
  const arch = archOf(triple?.split('-', 1)[0] ?? '');
  return triple === undefined || arch === undefined
    ? undefined
    : { arch, source: `the target folder ${triple}` };
}
