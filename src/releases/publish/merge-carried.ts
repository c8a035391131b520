import { AppError } from '../../core/errors.ts';
import { type CarriedDocument, isFor, mayList } from '../../domain/carried-document.ts';
import { findArtifact, isSameFile, type Release } from '../../domain/release.ts';

/** The files that a publisher adds to a release. */
type Added = Pick<Release, 'version' | 'artifacts' | 'carried'>;

/**
 * Adds the signed documents of a publisher to a release. Like a file, a document that was offered is never replaced.
 *
 * @throws AppError `release_differs`
 */
export function mergeCarried(
  newest: Release | undefined,
  offered: readonly Release[],
  mine: Added,
): readonly CarriedDocument[] {
  const fixed = new Map(offered.flatMap(({ carried }) => carried.map((each) => [each.name, each])));
  const kept = (newest?.carried ?? []).filter((each) => !describesReplaced(each, newest, mine));
  const documents = new Map([...kept.map((each) => [each.name, each] as const), ...fixed]);
  for (const document of mine.carried) {
    const { name, sha256, object } = document;
    const existing = fixed.get(name);
    if (existing !== undefined && existing.sha256 !== sha256) {
      throw carriedDiffers(mine.version, existing, document);
    }
    refuseLosing(newest, mine, document);
    documents.set(name, { ...document, object: object || (documents.get(name)?.object ?? '') });
  }
  return [...documents.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/**
 * Refuses to replace a document that may list files which this publisher does not publish. Clients would get the new
 * document, which does not list these files.
 */
function refuseLosing(
  newest: Release | undefined,
  mine: Added,
  { name, sha256 }: CarriedDocument,
): void {
  const other = newest?.carried.find((each) => each.name === name);
  if (newest === undefined || other === undefined || other.sha256 === sha256) return;
  const left = newest.artifacts.filter(
    (artifact) => mayList(artifact, name) && findArtifact(mine, artifact) === undefined,
  );
  if (left.length === 0) return;
  throw new AppError(
    'release_differs',
    `${mine.version} has another signed ${name}, of another build, and clients get only one. This one would replace it, and it does not list ${left.map(({ filename }) => filename).join(', ')}: clients would not find that file. Build all architectures and formats that ${name} is for in one run, and publish them together, or publish a new version.`,
  );
}

/** Reports whether a publisher replaces a file that a signed document describes by its hash. */
function describesReplaced(
  { name }: CarriedDocument,
  newest: Release | undefined,
  { artifacts }: Added,
): boolean {
  return artifacts.some((artifact) => {
    const existing = newest && findArtifact(newest, artifact);
    return existing !== undefined && !isSameFile(existing, artifact) && isFor(artifact, name);
  });
}

/** The error for another signed document under a version that was published. */
export function carriedDiffers(
  version: string,
  existing: CarriedDocument,
  wanted: Pick<CarriedDocument, 'name' | 'sha256'>,
): AppError {
  return new AppError(
    'release_differs',
    `${version} was published with another signed ${wanted.name}: its sha256 is ${existing.sha256.slice(0, 12)}…, and that of this file is ${wanted.sha256.slice(0, 12)}…. A signed document that clients may have is never replaced. Build all architectures that ${wanted.name} is for in one run, or publish a new version.`,
  );
}
