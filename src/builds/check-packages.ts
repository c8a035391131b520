import { identityName } from '../domain/release.ts';
import type { BuiltArtifact, BuiltDocument, SkippedFile } from './build-output.ts';
import { containsVersion, otherVersionIn } from './name-version.ts';
import { refusal } from './refusal.ts';
import type { SourceFile } from './source-file.ts';
import type { Unfinished } from './unfinished.ts';

/** Checks that concern all packages of a build. */

/**
 * Refuses a file without a version in its name when all files beside it are of another version. Then the publisher
 * forgot to raise the version, and clients would update to the version that they already have.
 */
export function refuseForgottenVersion(
  sources: readonly SourceFile[],
  packages: readonly Unfinished[],
  version: string,
): void {
  if (packages.some(({ package: { file } }) => containsVersion(file.name, version))) return;
  const found = packages.find(({ package: { file } }) => file.statement === null)?.package.file;
  const others = sources.flatMap(({ name, statement }) =>
    statement === null ? (otherVersionIn(name, version) ?? []) : [],
  );
  if (found === undefined || others[0] === undefined) return;
  throw refusal(
    found.path,
    `its name states no version, and the packages beside it are of version ${others[0]}, not ${version}. Build ${version}. If this file is of ${version}, publish it by its own path: "${found.path}".`,
  );
}

/**
 * Drops an `.appx` beside an `.msix` for the same target. Both have the same format, and a release has one file for
 * each target and format.
 */
export function dropOlderPackages(packages: Map<string, Unfinished>): SkippedFile[] {
  const skipped: SkippedFile[] = [];
  for (const [path, { package: own }] of packages) {
    if (own.file.statement !== null || !/\.appx(bundle)?$/i.test(own.file.name)) continue;
    const newer = [...packages.values()].find(
      ({ package: other }) =>
        identityName(other) === identityName(own) && /\.msix(bundle)?$/i.test(other.file.name),
    );
    if (newer === undefined) continue;
    const { name } = newer.package.file;
    skipped.push({ path, reason: `${name} is the package for ${own.platform}-${own.arch}` });
    packages.delete(path);
  }
  return skipped;
}

/** Ignores case in names, because Windows and macOS save two names that differ only in case as one file. */
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
      `${reason}. Publish one of them, or distinguish them with ,arch=…,format=…,name=….`,
    );
  }
  seen.set(reason, path);
}

/**
 * @throws AppError `invalid_artifact` when two jobs signed different documents with one name: clients could get only
 *   one of the documents
 */
export function refuseTwoOfOneName(signed: readonly BuiltDocument[]): void {
  for (const [index, { path, name }] of signed.entries()) {
    const other = signed.slice(0, index).find((each) => each.name === name);
    if (other === undefined) continue;
    throw refusal(
      path,
      `${other.path} is signed under the same name, and clients can get only one of them. Build the architectures that ${name} is for in one run.`,
    );
  }
}
