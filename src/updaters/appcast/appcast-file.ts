import { admittedArches, isNativeOn } from '../../domain/compatible-arches.ts';
import type { Arch, Format, Platform } from '../../domain/platform.ts';
import type { Artifact, Release } from '../../domain/release.ts';
import { edSignatureOf } from './appcast.ts';

/** Chooses the files that an appcast lists. */

interface Wanted {
  readonly platform: Platform;
  /** Null when the client does not state it. */
  readonly arch: Arch | null;
  /** Best first. */
  readonly formats: readonly Format[];
}

/**
 * The file of a release for a machine; undefined for none. A signed file comes before others, because an application
 * with a public key refuses those; then the best format.
 *
 * Without the architecture, a build that runs on every Mac comes first: an Intel Mac with an older Sparkle than 2.9
 * installs an arm64 build.
 */
export function chooseFile(
  { artifacts }: Pick<Release, 'artifacts'>,
  wanted: Wanted,
): Artifact | undefined {
  const { platform, arch, formats } = wanted;
  const arches = arch === null ? UNSTATED : admittedArches(platform, arch);
  const isLastResort = (file: Artifact): boolean =>
    arch === null ? file.arch === 'arm64' : !isNativeOn(arch, file);
  const [best] = artifacts
    .filter(
      (file) =>
        file.platform === platform && formats.includes(file.format) && arches.includes(file.arch),
    )
    .sort(
      (a, b) =>
        Number(isLastResort(a)) - Number(isLastResort(b)) ||
        Number(isUnsigned(a)) - Number(isUnsigned(b)) ||
        formats.indexOf(a.format) - formats.indexOf(b.format) ||
        arches.indexOf(a.arch) - arches.indexOf(b.arch),
    );
  return best;
}

const UNSTATED: readonly Arch[] = ['universal', 'x64', 'arm64', 'ia32'];

function isUnsigned(file: Artifact): boolean {
  return edSignatureOf(file) === undefined;
}
