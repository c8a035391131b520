import { artifactKey } from '../../catalog/documents/keys.ts';
import { readSoundManifests } from '../../catalog/reading/read.ts';
import type { CopiedObject, Listing } from './copy-plan.ts';
import type { CopyDeps } from './copy-side.ts';

/** The hashes of signed documents that the manifests of the source state. */
interface CarriedHashes {
  /** The hash in hex; undefined when no sound manifest names the document. */
  of(object: CopiedObject): Promise<string | undefined>;
}

/** Reads the manifests of a version when the hash of its first signed document is requested. */
export function createCarriedHashes(
  { from }: Pick<CopyDeps, 'from'>,
  source: Listing,
): CarriedHashes {
  const versions = new Map<string, Promise<ReadonlyMap<string, string>>>();
  let manifests: ReadonlyMap<string, readonly CopiedObject[]> | undefined;

  const read = async (application: string, version: string) => {
    manifests ??= manifestsByVersion(source);
    const listed = manifests.get(`${application} ${version}`) ?? [];
    const numbers = listed.map(({ number }) => number);
    const releases = await readSoundManifests(from, application, version, numbers);
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
      // After a failure, the next document of the version reads the manifests again.
      known.catch(() => versions.delete(name));
      return (await known).get(key);
    },
  };
}

function manifestsByVersion({ objects }: Listing): ReadonlyMap<string, readonly CopiedObject[]> {
  const manifests = [...objects.values()].filter(({ kind }) => kind === 'manifest');
  return Map.groupBy(manifests, ({ application, version }) => `${application} ${version}`);
}
