import pLimit from 'p-limit';
import { findGarbage, KEPT_OUT_AGE_MIN_MS } from '../../catalog/writing/garbage.ts';
import { isAppError } from '../../core/errors.ts';
import { type CopiedObject, isKept, isPrivate, type Listing } from './copy-plan.ts';
import { type CopyDeps, type CopyProblem, patiently, REQUESTS_MAX } from './copy-side.ts';
import { lostProblem } from './find-lost.ts';

/** Deletes from a copy the objects that the source has erased or cleaned up. */

interface Pruned {
  readonly deleted: readonly CopiedObject[];
  /** Files that the source has lost: a manifest names them, and the target still has them. */
  readonly problems: readonly CopyProblem[];
}

/**
 * Deletes private objects, and files that no release needs. Never deletes a catalog, a manifest, a hint or a list of
 * applications. Never deletes a file that the target's own catalog names, because the source may have lost the file by
 * accident.
 */
export async function pruneCopy(
  deps: CopyDeps,
  source: Listing,
  extra: readonly CopiedObject[],
): Promise<Pruned> {
  const { unused, problems } = await findUnused(deps, extra);
  const deletable = [...(hasPrivate(source) ? extra.filter(isPrivate) : []), ...unused];
  await deleteObjects(deps, deletable);
  return { deleted: deletable, problems };
}

/**
 * True when a store has private data. A prune keeps private data when the source has none: such a source is more likely
 * the wrong store than a store whose last account was erased.
 */
export function hasPrivate({ objects }: Listing): boolean {
  for (const object of objects.values()) if (isPrivate(object)) return true;
  return false;
}

/**
 * Deletes objects. It deletes the lowest numbers first: after an interruption, an account without its first document
 * does not exist. It deletes end markers last, so that a sequence stays ended until all of its documents are deleted.
 */
export async function deleteObjects(
  deps: CopyDeps,
  objects: readonly CopiedObject[],
): Promise<void> {
  const isEnd = ({ kind }: CopiedObject): boolean => kind === 'end';
  const inOrder = [...objects].sort((a, b) => a.number - b.number);
  let done = 0;
  for (const part of [inOrder.filter((each) => !isEnd(each)), inOrder.filter(isEnd)]) {
    const limit = pLimit(REQUESTS_MAX);
    await Promise.all(
      part.map(({ key }) =>
        limit(async () => {
          await patiently(deps, () => deps.to.store.delete(key));
          deps.onProgress('pruning', ++done, objects.length, 'count');
        }),
      ),
    );
  }
}

/**
 * Divides files into the files that no release needs and the files that the source has lost. The target must have the
 * catalog of the source.
 */
export async function findUnused(
  deps: CopyDeps,
  extra: readonly CopiedObject[],
): Promise<{ readonly unused: readonly CopiedObject[]; readonly problems: CopyProblem[] }> {
  const { to, clock } = deps;
  const files = extra.filter((object) => !isPrivate(object) && !isKept(object));
  const now = clock.now();
  // Treats every file as old: no publish uses the files of a copy, so new files need no protection. The target's clock
  // may be ahead of this clock, so the limit comes after the newest file.
  const newest = files.reduce((last, file) => Math.max(last, file.lastModified.getTime()), now);
  const limits = {
    storedBefore: new Date(newest + 1),
    keptOutBefore: new Date(now - KEPT_OUT_AGE_MIN_MS),
  };
  const unused: CopiedObject[] = [];
  const problems: CopyProblem[] = [];
  const applications = new Set(files.map(({ application = '' }) => application));
  for (const application of applications) {
    const own = files.filter((file) => file.application === application);
    const found = await findGarbage(to, application, limits).catch((error: unknown) => {
      if (!isAppError(error) || error.kind !== 'corrupt') throw error;
      problems.push({
        key: application,
        detail: `The files of ${application} were not checked: ${error.message}`,
      });
      return undefined;
    });
    if (found === undefined) continue;
    const garbage = new Set(found.map(({ key }) => key));
    for (const file of own) {
      if (garbage.has(file.key)) unused.push(file);
      else problems.push(lostProblem(deps, file.key, 'a manifest names it', true));
    }
  }
  return { unused, problems };
}
