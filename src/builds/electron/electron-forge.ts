import { archOf, type Platform, platformOf } from '../../domain/platform.ts';
import { type Clues, isMarkOfElectronBuilder } from '../clues.ts';
import type { SourceFile } from '../source-file.ts';

/**
 * Electron Forge writes `make/squirrel.windows/x64/`, `make/zip/darwin/arm64/`, `make/deb/x64/`, … The folder states
 * the architecture; names of Squirrel's files do not.
 */

const MAKERS: Readonly<Record<string, Platform | undefined>> = {
  'squirrel.windows': 'windows',
  wix: 'windows',
  msix: 'windows',
  appx: 'windows',
  zip: undefined,
  deb: 'linux',
  rpm: 'linux',
  snap: 'linux',
  flatpak: 'linux',
  appimage: 'linux',
  dmg: 'macos',
  pkg: 'macos',
};

/**
 * The platform of a maker; undefined for a maker of several platforms. `maker` is the end of the name of the maker's
 * npm package: `squirrel`, `deb`.
 */
export function platformOfMaker(maker: string): Platform | undefined {
  const folder = maker === 'squirrel' ? 'squirrel.windows' : maker;
  return Object.hasOwn(MAKERS, folder) ? MAKERS[folder] : undefined;
}

export function cluesOfElectronForge(file: SourceFile): Clues | undefined {
  const folders = file.folders.map((folder) => folder.toLowerCase());
  const at = folders.findLastIndex((folder) => Object.hasOwn(MAKERS, folder));
  const maker = folders[at] ?? '';
  const isForge = at >= 0 && (folders[at - 1] === 'make' || maker === 'squirrel.windows');
  if (!isForge) return isSquirrelName(file) ? squirrelFormat(file.name) : undefined;
  const below = folders.slice(at + 1);
  const platform = MAKERS[maker] ?? platformOf(below[0] ?? '');
  const arch = archOf(below.at(-1) ?? '');
  const isSquirrel = maker === 'squirrel.windows';
  return {
    ...(platform === undefined ? {} : { platform }),
    ...(arch === undefined
      ? {}
      : { arch: { arch, source: `the folder ${file.folders.slice(at).join('/')}` } }),
    ...(isSquirrel ? squirrelFormat(file.name) : {}),
    // WiX writes `App.msi` for every architecture.
    ...(maker === 'wix' ? { nameLacksArch: true } : {}),
  };
}

/**
 * True for an installer of Squirrel. Such an installer is beside a `RELEASES` that Velopack did not write, or has a
 * name like `App-1.0.0 Setup.exe`. An NSIS installer of electron-builder may have the same name, but has a block map or
 * electron-builder's feed beside it.
 */
function isSquirrelName({ name, siblings }: SourceFile): boolean {
  if (siblings.includes(`${name}.blockmap`)) return false;
  const isBesideReleases =
    siblings.includes('RELEASES') &&
    !siblings.some((each) => /^(releases|assets)\..+\.json$/i.test(each));
  if (isBesideReleases) return /setup\.exe$/i.test(name);
  return /\d setup\.exe$/i.test(name) && !siblings.some(isMarkOfElectronBuilder);
}

/** Squirrel's installer is a program with the package inside; updaters download the package alone. */
export function squirrelFormat(name: string): Pick<Clues, 'format'> {
  if (/\.nupkg$/i.test(name)) return { format: 'squirrel' };
  return /\.exe$/i.test(name) ? { format: 'squirrel-setup' } : {};
}
