import type { Arch, Platform } from '../../domain/platform.ts';
import { type ArtifactIdentity, type FileIdentity, isSameFile } from '../../domain/release.ts';
import { USUAL_ARCHES } from '../../domain/visitor-machine.ts';

/** Chooses the files that a visitor is offered first, for the pages of the service and for the code for browsers. */

/** A file that a visitor can download. */
interface ListedFile {
  readonly artifact: ArtifactIdentity & FileIdentity;
}

export interface SuggestionQuery {
  readonly platform: Platform;
  /** Null when the browser does not state its architecture. */
  readonly arch: Arch | null;
  /**
   * The formats that a website prefers. When no file for a machine has such a format, the visitor gets a file of
   * another format.
   */
  readonly formats: readonly string[];
}

/**
 * The files to offer first. This is one file, or no file when none runs on the machine. A Mac with an unknown processor
 * gets two files, Apple silicon first, because Safari and Firefox do not state the processor of a Mac.
 *
 * @param list lists the files that run on an architecture of the platform, or the files for every machine when the
 *   architecture is null. `listLatest` sorts them.
 */
export async function suggestDownloads<Listed extends ListedFile>(
  { platform, arch, formats }: SuggestionQuery,
  list: (arch: Arch | null) => Promise<readonly Listed[]>,
): Promise<readonly Listed[]> {
  const choose = (files: readonly Listed[]): readonly Listed[] => {
    const best = files.find(({ artifact }) => formats.includes(artifact.format)) ?? files[0];
    return best === undefined ? [] : [best];
  };
  if (arch !== null) return choose(await list(arch));
  const usual = USUAL_ARCHES[platform];
  const files = await list(null);
  const best = choose(
    files.filter(({ artifact }) => artifact.platform === platform && usual.includes(artifact.arch)),
  );
  if (platform !== 'macos' || best[0] === undefined || best[0].artifact.arch === 'universal') {
    return best;
  }
  const [apple, intel] = await Promise.all([list('arm64'), list('x64')]);
  const first = choose(apple);
  const others = choose(intel).filter(({ artifact }) =>
    first.every((each) => !isSameFile(each.artifact, artifact)),
  );
  return [...first, ...others];
}
