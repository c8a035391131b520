import { artifactKey } from '../../catalog/keys.ts';
import { readSoundManifests } from '../../catalog/read.ts';
import type { CopiedObject, Listing } from './copy-plan.ts';
import type { CopyDeps } from './copy-side.ts';

/** The hashes of signed documents, as the manifests of the source state them. */
interface CarriedHashes {
  /** In hex; undefined when no sound manifest names the document. @throws AppError the source's */
  of(object: CopiedObject): Promise<string | undefined>;
}

/** Reads the manifests of a version when the hash of its first signed document is requested. */
export function createCarriedHashes(
  { from }: Pick<CopyDeps, 'from'>,
  source: Listing,
): CarriedHashes {
  const versions = new Map<string, Promise<ReadonlyMap<string, string>>>();
  let numbers: ReadonlyMap<string, readonly number[]> | undefined;

  const read = async (application: string, version: string) => {
    numbers ??= manifestNumbers(source);
    const listed = numbers.get(`${application} ${version}`) ?? [];
    const releases = await readSoundManifests(from, application, version, listed);
    return new Map(
      releases
        .flatMap(({ carried }) => carried)
        .map(({ object, sha256 }) => [artifactKey(application, object), sha256]),
    );
  };

  return {
    of: async ({ key, application = '', version = '' }) => {
      const name = `${application} ${version}`;
      const known = versions.get(name) ?? read(application, version);
      versions.set(name, known);
      // The next document of the version reads them again.
      known.catch(() => versions.delete(name));
      return (await known).get(key);
    },
  };
}

function manifestNumbers({ objects }: Listing): ReadonlyMap<string, readonly number[]> {
  const numbers = new Map<string, number[]>();
  for (const { kind, application, version, number } of objects.values()) {
    if (kind !== 'manifest') continue;
    const name = `${application} ${version}`;
    numbers.set(name, [...(numbers.get(name) ?? []), number]);
  }
  return numbers;
}
