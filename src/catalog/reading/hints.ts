import pLimit from 'p-limit';
import { z } from 'zod';
import { isAppError } from '../../core/errors.ts';
import type { ObjectStore } from '../../store/object-store.ts';
import { isPresent } from '../../store/presence.ts';
import type { AppendDeps } from '../../store/sequence/append.ts';
import { SCHEMA_VERSION } from '../../store/sequence/envelope.ts';
import { defineSequence, seal } from '../../store/sequence/sealed.ts';
import { type Announced, findLast, readDocument } from '../../store/sequence/sequence.ts';
import { hintKey } from '../documents/keys.ts';
import { timeSchema } from '../documents/manifest-document.ts';

/**
 * One shared sequence of hints, each of which names an application that changed, and its new revision. With this
 * sequence, a service polls one key for all applications. A lost or corrupt hint only delays a change: services also
 * read one application after the other, without hints.
 *
 * A publisher stores a hint after its revision. So when a hint names a revision that the store lacks, that revision was
 * deleted. The present state is then unknown, because the revision may have withdrawn a release. An attacker can write
 * a false hint: it stops changes of the application that it names until a publisher skips the revision.
 */

/**
 * The highest revision that a hint announces. After a false hint, the revisions of an application may continue from
 * this number. The keys of revisions have room for nine times as many further numbers.
 */
const ANNOUNCED_MAX = 1_000_000_000;

export const hintSchema = z.object({
  schema_version: z.literal(SCHEMA_VERSION),
  type: z.literal('change'),
  number: z.number().int().positive(),
  change_id: z.uuid(),
  at: timeSchema,
  application: z.string(),
  revision: z
    .int()
    .positive()
    .max(ANNOUNCED_MAX)
    .optional()
    .describe(
      'The catalog revision that the hint announces. When the store lacks this revision, it was deleted. Absent in hints by earlier versions of Slipway.',
    ),
});

const HINT_BYTES_MAX = 4_096;
const hintSequence = defineSequence({
  name: 'hints of changes',
  schema: hintSchema,
  documentBytesMax: HINT_BYTES_MAX,
  key: hintKey,
  expected: (number) => ({ number }),
});

const ATTEMPTS_MAX = 3;
/** A service that has missed more hints than this reads every application instead. */
const BEHIND_MAX = 64;
/**
 * A starting service and a publisher read this many of the newest hints at most, because clients or the publisher wait
 * for these reads.
 */
const NEWEST_MAX = 512;
const READS_AT_ONCE = 32;

/**
 * Tells running services that an application changed, in at most three attempts.
 *
 * Does not use `createSettled`, because each attempt may need another number when other publishers take numbers.
 *
 * @param from the number of a hint that exists, or 0
 * @param revision the new revision of the application
 * @returns true when the hint was stored; never throws an AppError
 */
export async function announceChange(
  { store, clock, randomness }: AppendDeps,
  application: string,
  from: number,
  revision?: number,
): Promise<boolean> {
  const changeId = randomness.id();
  let last = from;
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
    const number = last + 1;
    const hint: z.output<typeof hintSchema> = {
      schema_version: SCHEMA_VERSION,
      type: 'change',
      number,
      change_id: changeId,
      at: new Date(clock.now()).toISOString(),
      application,
      ...(revision === undefined || revision > ANNOUNCED_MAX ? {} : { revision }),
    };
    try {
      if ((await store.create(hintKey(number), hintSequence.render(seal(hint)))) === 'created')
        return true;
      last = await findLastHint(store, number);
    } catch (error) {
      // The next attempt uses the same number: a hint that is stored twice does no harm.
      if (!isAppError(error)) throw error;
    }
  }
  return false;
}

/** The number of the newest hint. @param from see {@link readNewestHints} */
export async function findLastHint(store: ObjectStore, from: number): Promise<number> {
  const exists = from === 0 || (await isPresent(store, hintKey(from)));
  return findLast(store, hintSequence, exists ? from : 0);
}

/** The highest revision that hints announce for each application, by name. */
export type AnnouncedRevisions = ReadonlyMap<string, AnnouncedRevision>;

export interface AnnouncedRevision extends Announced {
  /** The number of the hint. */
  readonly hint: number;
}

export interface Hints {
  /** The applications that changed; undefined when there are too many hints to read. */
  readonly applications: ReadonlySet<string> | undefined;
  readonly announced: AnnouncedRevisions;
  /** The number of the newest hint. */
  readonly last: number;
}

/**
 * Reads the hints above a number. Without new hints, it makes one request.
 *
 * @throws AppError `store_unavailable`, `store_denied`
 */
export async function readHints(store: ObjectStore, after: number): Promise<Hints> {
  const applications = new Set<string>();
  const announced = new Map<string, AnnouncedRevision>();
  for (let number = after + 1; number <= after + BEHIND_MAX; number++) {
    const hint = await readHint(store, number);
    if (hint === 'missing') return { applications, announced, last: number - 1 };
    if (hint === 'unreadable') continue;
    applications.add(hint.application);
    note(announced, hint);
  }
  const newest = await readNewestHints(store, after + BEHIND_MAX);
  return { ...newest, applications: undefined };
}

/**
 * Reads the newest hints, {@link NEWEST_MAX} of them at most unless the caller states another limit.
 *
 * @param from the number of a hint, or 0: the function does not read hints up to this number. When the hint does not
 *   exist, it counts as 0: a revision states this number, and a thief of an operator's key may have made the revision
 * @throws AppError `store_unavailable`, `store_denied`
 */
export async function readNewestHints(
  store: ObjectStore,
  from: number,
  countMax: number = NEWEST_MAX,
): Promise<Pick<Hints, 'announced' | 'last'>> {
  // Usually there is only one new hint. Reading it together with the next one shows the end in one round trip.
  const [own, ...near] = await Promise.all([
    from === 0 ? undefined : readHint(store, from),
    readHint(store, from + 1),
    readHint(store, from + 2),
  ]);
  if (own === 'missing') return readNewestHints(store, 0, countMax);
  const end = near.indexOf('missing');
  if (end >= 0) return announcedBy(near.slice(0, end), from + end);
  const last = await findLastHint(store, from + near.length);
  const first = Math.max(from, last - countMax) + 1;
  const numbers = Array.from({ length: last - first + 1 }, (_, index) => first + index);
  const limit = pLimit(READS_AT_ONCE);
  const hints = await Promise.all(numbers.map((number) => limit(() => readHint(store, number))));
  return announcedBy(hints, last);
}

function announcedBy(
  hints: readonly Awaited<ReturnType<typeof readHint>>[],
  last: number,
): Pick<Hints, 'announced' | 'last'> {
  const announced = new Map<string, AnnouncedRevision>();
  for (const hint of hints) if (typeof hint === 'object') note(announced, hint);
  return { announced, last };
}

type Hint = z.output<typeof hintSchema>;

/**
 * `unreadable`: the hint is corrupt, or has a newer schema. Services also read one application after the other, so the
 * change is only delayed.
 */
async function readHint(
  store: ObjectStore,
  number: number,
): Promise<Hint | 'missing' | 'unreadable'> {
  // There is no next number. An attacker may store an object where rounding leads, and no search would end.
  if (!Number.isSafeInteger(number)) return 'missing';
  try {
    return (await readDocument(store, hintSequence, number))?.signed ?? 'missing';
  } catch (error) {
    if (isAppError(error, 'document_corrupt') || isAppError(error, 'document_newer'))
      return 'unreadable';
    throw error;
  }
}

function note(
  announced: Map<string, AnnouncedRevision>,
  { application, revision, number }: Hint,
): void {
  if ((revision ?? 0) <= (announced.get(application)?.number ?? 0)) return;
  announced.set(application, { number: revision ?? 0, by: hintKey(number), hint: number });
}

/** A failure with hints must not prevent the commit of a change: the change may be a yank. */
export function ignoreUnreadable(error: unknown): undefined {
  if (!isAppError(error)) throw error;
}

/**
 * Finds an application that hints announce and the newest list lacks. A publisher lists an application before it stores
 * the first hint, so in this case the newest list was deleted. Undefined when there is no such application.
 *
 * @param from the number of the newest hint at the time when the list was made. Hints up to this number do not count:
 *   the publisher who made the list decided to continue without their applications
 */
export function lostApplication(
  announced: Iterable<readonly [string, AnnouncedRevision]>,
  listed: readonly string[],
  from: number,
): { readonly by: string; readonly problem: string } | undefined {
  const names = new Set(listed);
  for (const [name, { by, hint }] of announced) {
    if (names.has(name) || hint <= from) continue;
    const problem = `The list of applications does not have ${JSON.stringify(name.slice(0, 80))}, which ${by} announces: the newest list was deleted. Restore the objects below applications/ from a backup.`;
    return { by, problem };
  }
  return undefined;
}
