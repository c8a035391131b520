import { AppError } from '../core/errors.ts';
import { type Companion, DELTA } from '../domain/companion.ts';
import { admittedArches } from '../domain/compatible-arches.ts';
import type { Arch, Format, Platform } from '../domain/platform.ts';
import type { Artifact, Release } from '../domain/release.ts';

/**
 * The packages that the feeds of Squirrel and Velopack list: full packages, and deltas from one full package to the
 * next.
 */

/** A file with the SHA-1 that clients of Squirrel and Velopack compare. */
type HashedFile = (Artifact | Companion) & { readonly sha1: string };

export interface ListedPackage {
  readonly release: Release;
  readonly artifact: Artifact & HashedFile;
}

/** A delta, the package that the delta makes, and the package that the delta changes. */
export interface ListedDelta {
  readonly to: ListedPackage;
  readonly base: ListedPackage;
  readonly file: Companion & HashedFile;
}

/** The rules that decide which packages of a release a client can install, and which packages its feed lists. */
export interface PackageRules {
  readonly platform: Platform;
  readonly arch: Arch | null;
  readonly format: Format;
  /** True when the client reads the right version from the name of a file. */
  isNamedFor(filename: string, version: string): boolean;
  /**
   * Says how well a package fits the client's question: a smaller number is better. Absent: all packages fit equally.
   */
  rankOf?(artifact: Artifact, version: string): number;
}

/** The packages of a release that run on the client's machine, the best first. */
function candidates(release: Release, rules: PackageRules): readonly Artifact[] {
  const { platform, arch, format } = rules;
  const admitted = admittedArches(platform, arch);
  const rankOf = (artifact: Artifact): number => rules.rankOf?.(artifact, release.version) ?? 0;
  return release.artifacts
    .filter((each) => each.platform === platform && each.format === format)
    .filter((each) => admitted.includes(each.arch))
    .toSorted(
      (a, b) => rankOf(a) - rankOf(b) || admitted.indexOf(a.arch) - admitted.indexOf(b.arch),
    );
}

/**
 * The package of a release that a feed can list; undefined for none.
 *
 * @param like a package with the architecture that the result must have; undefined: the best package of any
 *   architecture
 */
export function packageIn(
  release: Release,
  rules: PackageRules,
  like?: Artifact,
): ListedPackage | undefined {
  const { version } = release;
  const [artifact] = candidates(release, rules).filter(
    ({ arch }) => like === undefined || arch === like.arch,
  );
  const isListed =
    artifact !== undefined && isHashed(artifact) && rules.isNamedFor(artifact.filename, version);
  return isListed ? { release, artifact } : undefined;
}

/**
 * The package of the offered release: the chosen package, or a package that fits the client's question better.
 *
 * @throws AppError `no_release` when a feed cannot list the package. The client would report an error for a line
 *   without a hash, and "no update" would be wrong
 */
export function offeredPackage(
  { release, artifact: chosen }: { readonly release: Release; readonly artifact: Artifact },
  rules: PackageRules,
): ListedPackage {
  const { version } = release;
  const rank = rules.rankOf?.(chosen, version) ?? 0;
  const better = candidates(release, rules).find(
    (each) =>
      (rules.rankOf?.(each, version) ?? 0) < rank &&
      // The decision compared the version of the system with the minimum of the chosen file only.
      (each.minimumOsVersion === null || each.minimumOsVersion === chosen.minimumOsVersion),
  );
  const artifact = better ?? chosen;
  const listed = packageIn(release, rules, artifact);
  if (listed !== undefined) return listed;
  throw new AppError(
    'no_release',
    artifact.sha1 === undefined
      ? `Release ${version} has no SHA-1 of its package, which this updater compares: an older version of publish stored it. Publish the same files of ${version} again.`
      : `This updater would read another version than ${version} from the name ${artifact.filename}. Publish the package under the name that its build tool gave it.`,
  );
}

/** True when a release has several packages that the client could have installed. */
export function hasSeveral(release: Release, rules: PackageRules): boolean {
  return candidates(release, rules).length > 1;
}

function isHashed<File extends Artifact | Companion>(
  file: File,
): file is File & { readonly sha1: string } {
  return file.sha1 !== undefined;
}

export interface ChainRules extends PackageRules {
  /** True when the client takes two texts for the same version. */
  isSame(version: string, other: string): boolean;
  /** True when the client takes `version` for newer than `other`. */
  isNewer(version: string, other: string): boolean;
}

/**
 * The deltas that lead to a package, the newest first. Each delta changes the package that the next delta in the list
 * makes, and the feed lists all of these packages. A client applies every delta that is newer than its own version, so
 * one gap would make all deltas useless.
 *
 * @param older the older releases that the client can install, newest first
 * @param from the version that the client has: the deltas begin exactly at this version, or the list is empty. Null:
 *   the deltas go back to the first gap
 */
export function deltasTo(
  target: ListedPackage,
  older: readonly Release[],
  rules: ChainRules,
  from: string | null,
): readonly ListedDelta[] {
  const deltas: ListedDelta[] = [];
  let to = target;
  let rest = older;
  while (from === null || !rules.isSame(to.release.version, from)) {
    const delta = deltaTo(to, rest, rules, from);
    if (delta === undefined) return from === null ? deltas : [];
    deltas.push(delta);
    to = delta.base;
    // Keeps only releases that are older than the base, so the loop ends.
    rest = rest.slice(rest.indexOf(to.release) + 1);
  }
  return deltas;
}

/**
 * Chooses one of several deltas to a package. When the client states its version, this is the delta with the oldest
 * base that is not older than that version: one delta over many versions has fewer bytes than several deltas. Otherwise
 * it is the delta with the newest base.
 */
function deltaTo(
  to: ListedPackage,
  older: readonly Release[],
  rules: ChainRules,
  from: string | null,
): ListedDelta | undefined {
  const { version } = to.release;
  const deltas = to.artifact.companions.flatMap((file): readonly ListedDelta[] => {
    const { kind, base: stated } = file;
    if (kind !== DELTA || stated === undefined || !isHashed(file)) return [];
    if (!rules.isNamedFor(file.filename, version) || !rules.isNewer(version, stated)) return [];
    if (from !== null && rules.isNewer(from, stated)) return [];
    const release = older.find((each) => rules.isSame(each.version, stated));
    const base = release && packageIn(release, rules, to.artifact);
    return base === undefined ? [] : [{ to, base, file }];
  });
  const place = ({ base }: ListedDelta): number => older.indexOf(base.release);
  const sorted = deltas.toSorted((a, b) => place(b) - place(a));
  return from === null ? sorted.at(-1) : sorted[0];
}
