import { type Arch, type Platform, parseArch } from '../../domain/platform.ts';
import type { ArtifactIdentity } from '../../domain/release.ts';
import { type Clues, isMarkOfElectronBuilder } from '../clues.ts';
import { archInName, inferFromName, isWebInstaller, isWebPackage } from '../infer.ts';
import type { SourceFile } from '../source-file.ts';
import { squirrelFormat } from './electron-forge.ts';

/**
 * electron-builder writes the packages of all platforms into one directory. Names of x64 packages have no suffix. For a
 * name without a suffix, the unpacked applications beside the package show the architecture.
 */

/** `squirrel-windows/`, `squirrel-windows-ia32/`, `squirrel-windows-arm64/`. */
const SQUIRREL_FOLDER = /^squirrel-windows(?:-(ia32|arm64))?$/;
const UNPACKED: Readonly<Record<Platform, RegExp>> = {
  windows: /^win(?:-(arm64|ia32))?-unpacked$/,
  linux: /^linux(?:-(arm64|armv7l|ia32))?-unpacked$/,
  macos: /^(?:mac|mas)(?:-(arm64|universal))?$/,
};

export function cluesOfElectronBuilder(file: SourceFile): Clues | undefined {
  const folder = SQUIRREL_FOLDER.exec(file.folders.at(-1) ?? '');
  if (folder !== null) {
    const arch = parseArch(folder[1] ?? 'x64');
    return {
      platform: 'windows',
      arch: { arch, source: `the folder ${folder[0]}` },
      nameLacksArch: true,
      ...squirrelFormat(file.name),
    };
  }
  if (/^mas(-dev)?(-|$)/.test(file.folders.at(-1) ?? '') && /\.pkg$/i.test(file.name)) {
    return { platform: 'macos', skip: 'for the Mac App Store, which delivers its own updates' };
  }
  if (!isElectronBuilders(file)) return undefined;
  const { platform = archivePlatform(file), format } = inferFromName(file.name);
  if (platform === undefined) return undefined;
  const usualArch = unsuffixedArch(platform, file);
  return {
    platform,
    ...(usualArch === undefined ? {} : { usualArch }),
    ...(/\.exe$/i.test(file.name) && format !== 'binary' ? exeFormat(file) : {}),
  };
}

/**
 * True for a package that electron-updater downloads differentially with a map beside it: an NSIS installer, and a zip
 * for macOS.
 */
export function needsBlockmap(
  file: SourceFile,
  { platform, format }: Pick<ArtifactIdentity, 'platform' | 'format'>,
): boolean {
  const isMapped = format === 'nsis' || (platform === 'macos' && format === 'zip');
  return isMapped && isElectronBuilders(file);
}

function isElectronBuilders(file: SourceFile): boolean {
  const { siblings, name } = file;
  return (
    siblings.some(isWebPackage) ||
    siblings.includes(`${name}.blockmap`) ||
    siblings.some(isMarkOfElectronBuilder) ||
    siblings.some((sibling) => /-unpacked$|^mac-(arm64|universal)$/.test(sibling)) ||
    /-mac\.zip$|-win\.zip$/i.test(name)
  );
}

/** A `.tar.gz` without a platform in its name is for Linux: names for Windows and macOS have a suffix. */
function archivePlatform(file: SourceFile): Platform | undefined {
  return /\.tar\.(gz|xz)$/i.test(file.name) ? 'linux' : undefined;
}

/**
 * The architecture of a name without a suffix. It usually is x64, but a custom `artifactName` may leave out `${arch}`.
 * So when there is only one unpacked application, its architecture counts. On Windows, one installer may contain
 * several unpacked applications. Then its architecture is `universal`.
 */
function unsuffixedArch(platform: Platform, file: SourceFile): Arch | undefined {
  if (isWeb(file)) return archOfPackages(file);
  const built = file.siblings.flatMap((sibling) => {
    const match = UNPACKED[platform].exec(sibling);
    return match === null ? [] : [parseArch(match[1] ?? 'x64')];
  });
  const arches = [...new Set(built)];
  if (arches.length === 0) return 'x64';
  if (arches.length === 1) return arches[0];
  if (platform === 'windows' && /\.exe$/i.test(file.name)) {
    return isOneOfSeveral(file) ? 'x64' : 'universal';
  }
  return arches.includes('x64') ? 'x64' : undefined;
}

/**
 * With `buildUniversalInstaller: false`, each architecture has its own installer, and every name except the name for
 * x64 has a suffix.
 */
function isOneOfSeveral({ name, siblings }: SourceFile): boolean {
  const stem = name.slice(0, -'.exe'.length).toLowerCase();
  return siblings.some((sibling) => {
    const other = sibling.toLowerCase();
    return (
      other.startsWith(`${stem}-`) && other.endsWith('.exe') && archInName(sibling) !== undefined
    );
  });
}

/**
 * Only ordinary installers have a block map beside them. So the block map shows that an installer of a product called
 * `App Web` is an ordinary installer.
 */
function isWeb({ name, folders, siblings }: SourceFile): boolean {
  if (siblings.includes(`${name}.blockmap`)) return false;
  return isWebInstaller(name) || folders.at(-1) === 'nsis-web';
}

/** A web installer is for the architectures of its packages. */
function archOfPackages(file: SourceFile): Arch {
  const arches = new Set(
    file.siblings.filter(isWebPackage).map((name) => archInName(name) ?? 'x64'),
  );
  const [only = 'x64'] = arches;
  return arches.size > 1 ? 'universal' : only;
}

/**
 * Only installers have a block map and, by default, Setup in their names. So `App 1.0.0.exe` without a block map is the
 * portable target: a `binary`, which unpacks the application and runs it.
 */
function exeFormat(file: SourceFile): Pick<Clues, 'format' | 'isSelfExtracting'> {
  if (isWeb(file)) return { format: 'nsis-web' };
  const isInstaller =
    /setup|installer/i.test(file.name) || file.siblings.includes(`${file.name}.blockmap`);
  return isInstaller ? { format: 'nsis' } : { format: 'binary', isSelfExtracting: true };
}
