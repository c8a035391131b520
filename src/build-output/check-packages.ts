import { identityName } from '../domain/release.ts';
import type { BuiltArtifact, SkippedFile } from './build-output.ts';
import type { Draft } from './draft.ts';
import { containsVersion, otherVersionIn } from './name-version.ts';
import { refusal } from './refusal.ts';
import type { SourceFile } from './source-file.ts';

/** What shows only when all packages of a build are seen together. */

/**
 * Refuses a file without a version in its name when all that lies beside it is of another version: the
 * publisher forgot to raise the version, and clients would be updated to what they have.
 */
export function refuseForgottenVersion(
  sources: readonly SourceFile[],
  drafts: readonly Draft[],
  version: string,
): void {
  if (drafts.some(({ package: { file } }) => containsVersion(file.name, version))) return;
  const found = drafts.find(({ package: { file } }) => file.statement === null)?.package.file;
  const others = sources.flatMap(({ name, statement }) =>
    statement === null ? (otherVersionIn(name, version) ?? []) : [],
  );
  if (found === undefined || others[0] === undefined) return;
  throw refusal(
    found.path,
    `its name states no version, and the packages beside it are of version ${others[0]}, not ${version}. Build ${version}; if this file is of ${version}, name it alone: "${found.path}"`,
  );
}

/**
 * An `.appx` that was found beside an `.msix` for the same machines: the same kind of package, of which a
 * release has one.
 */
export function dropOlderPackages(drafts: Map<string, Draft>): SkippedFile[] {
  const skipped: SkippedFile[] = [];
  for (const [path, { package: own }] of drafts) {
    if (own.file.statement !== null || !/\.appx(bundle)?$/i.test(own.file.name)) continue;
    const newer = [...drafts.values()].find(
      ({ package: other }) =>
        identityName(other) === identityName(own) && /\.msix(bundle)?$/i.test(other.file.name),
    );
    if (newer === undefined) continue;
    const { name } = newer.package.file;
    skipped.push({ path, reason: `${name} is the package for ${own.platform}-${own.arch}` });
    drafts.delete(path);
  }
  return skipped;
}

/** Names are compared without case: Windows and macOS save two that differ in it as one. */
export function checkUnique(artifacts: readonly BuiltArtifact[]): void {
  const seen = new Map<string, string>();
  for (const artifact of artifacts) {
    claim(seen, `both are ${identityName(artifact)}`, artifact.path);
    for (const { filename, path } of [artifact, ...artifact.companions]) {
      claim(seen, `both would be published as ${filename.toLowerCase()}`, path);
    }
  }
}

function claim(seen: Map<string, string>, reason: string, path: string): void {
  const other = seen.get(reason);
  if (other !== undefined && other !== path) {
    throw refusal(
      `${other} and ${path}`,
      `${reason}; publish one, or tell them apart with ,arch=…,format=…,name=…`,
    );
  }
  seen.set(reason, path);
}
