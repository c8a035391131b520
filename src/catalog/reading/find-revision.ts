import type { Clock } from '../../core/clock.ts';
import { AppError, isAppError } from '../../core/errors.ts';
import { type RevisionReference, refuseReference } from '../../domain/revision-reference.ts';
import { parseZonedTime } from '../../domain/zoned-time.ts';
import { type ReaderDeps, readLastRevisionNumber, readRevision } from './read.ts';
import type { Revision } from './sequences.ts';
import { unknownApplication } from './unknown-release.ts';

/**
 * Reads the newest catalog revision, or revision `at`.
 *
 * @throws AppError `unknown_application`, `unknown_version` when there is no such revision
 */
export async function readCatalog(
  deps: ReaderDeps,
  application: string,
  at?: number,
): Promise<Revision> {
  const revision = await readRevision(deps, application, at);
  if (revision !== undefined) return revision;
  throw await unknownApplication(deps, application);
}

/** A revision that a person asked for, and the time for which the shares of its rollouts are computed. */
export interface FoundRevision {
  readonly revision: Revision;
  /** By the store's clock; milliseconds since the epoch. */
  readonly time: number;
  /** True when the time is in the future: publishers may change the catalog until then. */
  readonly isForecast: boolean;
  /** The later revisions that cannot be read, and that may have been the newest at that time. */
  readonly unreadable: readonly number[];
}

export interface FindRevisionDeps extends ReaderDeps {
  /** The store's clock. */
  readonly clock: Pick<Clock, 'now'>;
}

/**
 * Finds the newest revision, or the revision that a reference names.
 *
 * - Without a reference: the newest revision, and the present time.
 * - A number: that revision, and the time when it was made.
 * - A time: the revision that was the newest at that time, and that time. For a time in the future, the revision is the
 *   newest one now.
 *
 * @throws AppError `unknown_application`; `unknown_version` when there is no such revision, also for a time before the
 *   first one; `invalid_request` for a time that does not exist; `document_corrupt`, `store_unavailable`,
 *   `store_denied`
 */
export async function findRevision(
  deps: FindRevisionDeps,
  application: string,
  reference: RevisionReference | undefined,
): Promise<FoundRevision> {
  if (reference === undefined) {
    const revision = await readCatalog(deps, application);
    return { revision, time: deps.clock.now(), isForecast: false, unreadable: [] };
  }
  if ('revision' in reference) {
    const revision = await readCatalog(deps, application, reference.revision);
    return { revision, time: timeOf(revision), isForecast: false, unreadable: [] };
  }
  const time = parseTime(reference.time);
  // Reads the store before the clock: the store's clock is known only after the store's first answer.
  const last = await readLastRevisionNumber(deps, application);
  if (last === 0 || time > deps.clock.now()) {
    const revision = await readCatalog(deps, application);
    return { revision, time, isForecast: true, unreadable: [] };
  }
  // Commands print whole seconds, so a time without a fraction stands for its whole second.
  const isWhole = !reference.time.includes('.');
  const found = await findAt(deps, application, last, isWhole ? time + 999 : time);
  // The time must not be earlier than the found revision.
  return { ...found, time: Math.max(time, timeOf(found.revision)), isForecast: false };
}

/** @throws AppError `invalid_request` */
function parseTime(text: string): number {
  const time = parseZonedTime(text);
  if (time !== undefined) return time;
  throw refuseReference(text, 'There is no such date or time of day.');
}

function timeOf({ signed }: Revision): number {
  return Date.parse(signed.at);
}

/**
 * Finds the revision with the highest number that was made at a time or before it. It uses a binary search: O(log n)
 * reads.
 *
 * The numbers of revisions give their order. Each publisher reads the store's clock for the time of its revision. Such
 * readings differ by a few seconds, so the times of two neighbors can be out of order. The search then finds a revision
 * that is not newer than the time and whose successor is newer. When this is true for several revisions, the search
 * finds any one of them. It never returns a revision that was made after the time.
 *
 * @param last the highest taken number
 * @throws AppError `unknown_version`
 */
async function findAt(
  deps: ReaderDeps,
  application: string,
  last: number,
  time: number,
): Promise<Pick<FoundRevision, 'revision' | 'unreadable'>> {
  const unreadable = new Set<number>();
  const newestUpTo = async (number: number, floor: number): Promise<Revision | undefined> => {
    for (let each = number; each > floor; each--) {
      const sound = unreadable.has(each) ? undefined : await readSound(deps, application, each);
      if (sound !== undefined) return sound;
      unreadable.add(each);
    }
    return undefined;
  };
  let [below, above] = [0, last + 1];
  let found: Revision | undefined;
  while (above - below > 1) {
    const middle = Math.floor((below + above) / 2);
    const sound = await newestUpTo(middle, below);
    if (sound !== undefined && timeOf(sound) > time) above = sound.signed.revision;
    else {
      found = sound ?? found;
      below = middle;
    }
  }
  if (found === undefined) throw await tooEarly(deps, application, last);
  const { revision: number } = found.signed;
  const between = [...unreadable].filter((each) => each > number && each < above);
  return { revision: found, unreadable: between.sort((a, b) => a - b) };
}

/** Undefined when the revision is corrupt or missing. */
async function readSound(
  deps: ReaderDeps,
  application: string,
  number: number,
): Promise<Revision | undefined> {
  try {
    return await readRevision(deps, application, number);
  } catch (error) {
    if (isAppError(error, 'document_corrupt') || isAppError(error, 'unknown_version')) return;
    throw error;
  }
}

async function tooEarly(deps: ReaderDeps, application: string, last: number): Promise<AppError> {
  for (let number = 1; number <= last; number++) {
    const first = await readSound(deps, application, number);
    if (first === undefined) continue;
    return new AppError(
      'unknown_version',
      `${application} had no catalog revision yet at that time. The first one is revision ${number}, of ${first.signed.at}.`,
    );
  }
  return new AppError('document_corrupt', `No catalog revision of ${application} can be read.`);
}
