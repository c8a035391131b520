import pLimit from 'p-limit';
import { artifactKey, manifestKey } from '../../catalog/documents/keys.ts';
import { readRevision, readSoundManifests } from '../../catalog/reading/read.ts';
import type { Revision } from '../../catalog/reading/sequences.ts';
import { isAppError } from '../../core/errors.ts';
import type { Listing } from './copy-plan.ts';
import { type CopyDeps, type CopyProblem, patiently, REQUESTS_MAX } from './copy-side.ts';

/** Finds the objects that the catalogs of a source name and that the source has lost. */

interface NamedManifest {
  readonly application: string;
  readonly version: string;
  readonly number: number;
}

/**
 * Reads the newest sound revision of each application at the source, and the manifests that its offers and drafts name.
 * It does not read older manifests, because they may name files that `gc` has deleted. It leaves out corrupt documents,
 * because the copy reports them.
 *
 * @throws AppError `document_newer`
 */
export async function findLost(
  deps: CopyDeps,
  source: Listing,
  target: Listing,
): Promise<readonly CopyProblem[]> {
  const problems: CopyProblem[] = [];
  const check = (key: string, by: string): boolean => {
    const isThere = source.objects.has(key);
    if (!isThere) problems.push(lostProblem(deps, key, `${by} names it`, target.objects.has(key)));
    return isThere;
  };
  const limit = pLimit(REQUESTS_MAX);
  const read: NamedManifest[] = [];
  await Promise.all(
    [...revisionNumbers(source)].map(([application, numbers]) =>
      limit(async () => {
        const revision = await newestSound(deps, application, numbers);
        for (const named of namedManifests(application, revision)) {
          const key = manifestKey(application, named.version, named.number);
          if (check(key, `the catalog of ${application}`)) read.push(named);
        }
      }),
    ),
  );
  let done = 0;
  await Promise.all(
    read.map(({ application, version, number }) =>
      limit(async () => {
        const [release] = await patiently(deps, () =>
          readSoundManifests(deps.from, application, version, [number]),
        );
        const files = release?.artifacts.flatMap((each) => [each, ...each.companions]) ?? [];
        for (const { object } of [...files, ...(release?.carried ?? [])]) {
          check(artifactKey(application, object), `the manifest of ${application} ${version}`);
        }
        deps.onProgress('checking manifests', ++done, read.length, 'count');
      }),
    ),
  );
  return problems.sort((a, b) => (a.key < b.key ? -1 : 1));
}

/** @param why a clause: `a manifest names it` */
export function lostProblem(
  { from, to }: Pick<CopyDeps, 'from' | 'to'>,
  key: string,
  why: string,
  isAtTarget: boolean,
): CopyProblem {
  const advice = isAtTarget
    ? `${to.name} still has it: copy it back from there.`
    : 'Restore it from another backup.';
  return { key, detail: `${key} is missing in ${from.name}, and ${why}. ${advice}` };
}

/** The numbers of the revisions by application, the highest first. */
function revisionNumbers({ objects }: Listing): ReadonlyMap<string, readonly number[]> {
  const revisions = [...objects.values()].filter(({ kind }) => kind === 'revision');
  const numbers = Map.groupBy(revisions, ({ application = '' }) => application);
  return new Map(
    [...numbers].map(([application, all]) => [
      application,
      all.map(({ number }) => number).sort((a, b) => b - a),
    ]),
  );
}

async function newestSound(
  deps: CopyDeps,
  application: string,
  numbers: readonly number[],
): Promise<Revision | undefined> {
  for (const number of numbers) {
    try {
      return await patiently(deps, () => readRevision(deps.from, application, number));
    } catch (error) {
      // The revision is corrupt, or was deleted after the listing.
      const isUnreadable = isAppError(error, 'document_corrupt');
      if (!isUnreadable && !isAppError(error, 'unknown_version')) throw error;
    }
  }
  return undefined;
}

function namedManifests(
  application: string,
  revision: Revision | undefined,
): readonly NamedManifest[] {
  const named = new Map<string, NamedManifest>();
  for (const { offers, drafts = [] } of Object.values(revision?.signed.channels ?? {})) {
    for (const { version, manifest } of [...offers, ...drafts]) {
      const { number } = manifest;
      named.set(`${version} ${number}`, { application, version, number });
    }
  }
  return [...named.values()];
}
