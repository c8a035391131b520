import { type CarriedDocument, isAskedBy } from '../domain/carried-document.ts';
import { findArtifact, isSameFile, type Release } from '../domain/release.ts';
import { AppError } from '../errors.ts';

/** What a publisher adds to a release. */
type Added = Pick<Release, 'version' | 'artifacts' | 'carried'>;

/** Like files: a document that was offered is never replaced. */
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
    documents.set(name, { ...document, object: object || (documents.get(name)?.object ?? '') });
  }
  return [...documents.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Whether a publisher replaces a file that a signed document describes by its hash. */
function describesReplaced(
  { name }: CarriedDocument,
  newest: Release | undefined,
  { artifacts }: Added,
): boolean {
  return artifacts.some((artifact) => {
    const existing = newest && findArtifact(newest, artifact);
    return existing !== undefined && !isSameFile(existing, artifact) && isAskedBy(artifact, name);
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
