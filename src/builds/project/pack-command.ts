import { findFiles, readText } from './project-files.ts';

/** A call of `vpk pack` in a script or a CI file of the project. */
export interface PackCommand {
  /** Relative to the project. */
  readonly file: string;
  readonly packId: string | undefined;
  readonly output: string | undefined;
}

const SCRIPTS = /\.(ps1|sh|cmd|bat|ya?ml|cake|cs)$|^(Makefile|justfile|package\.json)$/i;
const FILES_MAX = 100;
const PACK = /\bvpk(?:\.exe)?\s+(?:\[\w+\]\s+)?pack\b((?:[\\`^]\r?\n|[^\n])*)/;

/** Looks into scripts beside the project and in its CI, which are only searched as text. */
export async function findPackCommand(directory: string): Promise<PackCommand | undefined> {
  const here = await findFiles(directory, SCRIPTS, 1);
  const inCi = await findFiles(`${directory}/.github/workflows`, /\.ya?ml$/i, 1);
  const files = [...here, ...inCi.map((file) => `.github/workflows/${file}`)];
  for (const file of files.slice(0, FILES_MAX)) {
    const options = PACK.exec((await readText(directory, file)) ?? '')?.[1];
    if (options === undefined) continue;
    return {
      file,
      packId: readOption(options, '--packId|-u'),
      output: readOption(options, '--outputDir|-o'),
    };
  }
  return undefined;
}

/** A value that the script computes is left out. */
function readOption(options: string, names: string): string | undefined {
  const found = new RegExp(`(?:^|\\s)(?:${names})[ =]+(["']?)([\\w./\\\\-]+)\\1(?=\\s|$)`).exec(
    options,
  );
  return found?.[2]?.replaceAll('\\', '/').replace(/^\.\//, '');
}
