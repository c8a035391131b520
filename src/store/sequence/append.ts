import type { Clock, Randomness } from '../../core/clock.ts';
import { AppError, isAppError } from '../../core/errors.ts';
import type { ObjectStore } from '../object-store.ts';
import { isPresent } from '../presence.ts';
import { END_KEPT_MS_MIN } from './end.ts';
import type { Skipped } from './envelope.ts';
import type { NewestKnown } from './newest-known.ts';
import {
  type Announced,
  advance,
  type Entry,
  findLast,
  findNewest,
  findPresent,
  type Position,
  readNewer,
  refuseUnknownState,
  type Sequence,
} from './sequence.ts';

/** A writer retries a change for this long. Then the change fails, and the error says when the outcome is unknown. */
export const APPEND_TIME_MAX_MS = 60_000;
/**
 * When the store answers a request within this time, a created document is certainly the newest. If the machine slept
 * for longer, another process may have used the number first, and trimming may have freed it again.
 */
const CREATE_TIME_MAX_MS = END_KEPT_MS_MIN / 2;
const PAUSE_FIRST_MS = 20;
const PAUSE_MAX_MS = 2_000;

/** The state from which a change starts. */
export interface Base<T> {
  readonly newest: Entry<T> | undefined;
  /** The number of the new document. */
  readonly number: number;
  /** Corrupt documents that the new document skips and names. */
  readonly skipped: readonly Skipped[];
  /** The change copies this id into the document. */
  readonly changeId: string;
}

/**
 * Makes the next document, or returns undefined when nothing has to change. Whenever another writer was first,
 * {@link appendDocument} calls this function again with the newer state, so the function must contain every check. It
 * may throw to refuse the change.
 */
type Change<T> = (base: Base<T>) => T | undefined | Promise<T | undefined>;

type Appended<T> =
  | { readonly outcome: 'created'; readonly entry: Entry<T> }
  | {
      readonly outcome: 'unchanged';
      readonly newest: Entry<T> | undefined;
      /** The number that the document would have had. */
      readonly number: number;
    };

export interface AppendDeps {
  readonly store: ObjectStore;
  readonly clock: Clock;
  readonly randomness: Randomness;
  /**
   * Numbers of corrupt documents that the publisher allows the change to skip. They matter only in a sequence where a
   * corrupt newest document makes the present state unknown.
   */
  readonly skipCorrupt?: readonly number[];
  /**
   * A run of many changes uses one such object for all of them. When it is absent, each change finds the newest
   * document by itself.
   */
  readonly newestKnown?: NewestKnown;
}

interface AppendOptions {
  /** True when no other document refers to this sequence yet. The change then need not look for deleted documents. */
  readonly isUnreferenced?: boolean;
  /** A number of this sequence that the caller found in another document. */
  readonly named?: Announced | undefined;
}

export interface FoundOptions<T> extends AppendOptions {
  /**
   * The position that the caller has just found, with the same checks. Absent: the change begins with a search. When
   * another writer was first, the conditional write notices it in both cases.
   */
  readonly found?: Position<T> | undefined;
}

/**
 * Commits one change to a sequence.
 *
 * @throws AppError `outcome_unknown` when the store never said whether the document was created;
 *   `store_unavailable` when nothing was written; `document_too_large`; `document_newer`; `ended`;
 *   `document_corrupt` when the present state is unknown; what `change` throws
 */
export async function appendDocument<T>(
  deps: AppendDeps,
  sequence: Sequence<T>,
  change: Change<T>,
  { isUnreferenced = false, named, found }: FoundOptions<T> = {},
): Promise<Appended<T>> {
  const changeId = deps.randomness.id();
  const isGuarded = sequence.corruptNewest === 'unknown' && !isUnreferenced;
  const find = () => {
    const known = deps.newestKnown?.get(sequence);
    return isGuarded
      ? findPresent(deps.store, sequence, known, named)
      : findNewest(deps.store, sequence, known);
  };
  let foundAt = deps.clock.now();
  let position = found ?? (await find());
  // Not before the store's first answer: the clock may jump then to the store's time.
  let deadline = deps.clock.now() + APPEND_TIME_MAX_MS;
  for (let round = 0; ; round++) {
    const number = position.last + 1;
    const { newest, corrupt } = position;
    refuseUnknownState(sequence, position, deps.skipCorrupt);
    const skipped = corrupt.map(({ number: of, reason, sha256 }) => ({
      number: of,
      reason,
      sha256,
    }));
    const askedAt = deps.clock.now();
    const document = await change({ newest, number, skipped, changeId });
    // The change may ask an operator or a signer. The time that they take does not count.
    deadline += deps.clock.now() - askedAt;
    if (document === undefined) return { outcome: 'unchanged', newest, number };
    await refuseEnded(deps.store, sequence);
    // While the machine sleeps or a user leaves a question open, another process may use the number, and trimming may
    // free it again. The creation of the document would then succeed without effect.
    const isOld = isTrimmed(sequence) && deps.clock.now() - foundAt >= APPEND_TIME_MAX_MS;
    if (isOld && (await find()).last !== position.last) throw overtaken(sequence);
    foundAt = deps.clock.now();
    const settled = await settle(
      deps,
      sequence,
      { number, document, changeId },
      position,
      deadline,
    );
    if ('mine' in settled) {
      deps.newestKnown?.note(sequence, settled.mine);
      return { outcome: 'created', entry: settled.mine };
    }
    position = settled.position;
    if (deps.clock.now() >= deadline) throw overtaken(sequence);
    await pause(deps, round);
  }
}

/**
 * The service trims only sequences that can end. All other sequences keep every number, so a created document always
 * takes effect.
 */
function isTrimmed<T>({ endKey }: Sequence<T>): boolean {
  return endKey !== undefined;
}

async function refuseEnded<T>(store: ObjectStore, sequence: Sequence<T>): Promise<void> {
  if (sequence.endKey === undefined || !(await isPresent(store, sequence.endKey))) return;
  throw new AppError('ended', `The ${sequence.name} has ended; nothing can be added to it.`);
}

interface Candidate<T> {
  readonly number: number;
  readonly document: T;
  readonly changeId: string;
}

type SettledCandidate<T> = { readonly mine: Entry<T> } | { readonly position: Position<T> };

/**
 * Sends the identical bytes to the same key until the answer is definite. When the number is taken, the change id tells
 * whether an earlier attempt, whose answer was lost, took the number for this change.
 */
async function settle<T>(
  deps: AppendDeps,
  sequence: Sequence<T>,
  candidate: Candidate<T>,
  position: Position<T>,
  deadline: number,
): Promise<SettledCandidate<T>> {
  const { number, document, changeId } = candidate;
  const key = sequence.key(number);
  const bytes = sequence.render(document);
  if (bytes.byteLength > sequence.documentBytesMax) throw tooLarge(sequence, bytes.byteLength);
  let unclear: unknown;
  for (let attempt = 0; ; attempt++) {
    const askedAt = deps.clock.now();
    if (unclear !== undefined && askedAt >= deadline) throw unknownOutcome(sequence, key, unclear);
    try {
      if ((await deps.store.create(key, bytes)) === 'created') {
        const isLate = isTrimmed(sequence) && deps.clock.now() - askedAt > CREATE_TIME_MAX_MS;
        if (isLate) await requireNewest(deps.store, sequence, number);
        return { mine: { number, document } };
      }
      const newer = await readNewer(deps.store, sequence, position.last);
      if (newer.failure !== undefined) throw newer.failure;
      const mine = newer.entries.find((entry) => sequence.changeId(entry.document) === changeId);
      return mine === undefined ? { position: advance(sequence, position, newer) } : { mine };
    } catch (error) {
      // A refusal says nothing about earlier attempts: the store may have committed one of them.
      if (!isAppError(error, 'store_unavailable')) {
        throw unclear === undefined ? error : unknownOutcome(sequence, key, error);
      }
      unclear = error;
    }
    await pause(deps, attempt);
  }
}

async function requireNewest<T>(
  store: ObjectStore,
  sequence: Sequence<T>,
  number: number,
): Promise<void> {
  const key = sequence.key(number);
  const last = await findLast(store, sequence).catch((error: unknown) => {
    throw unknownOutcome(sequence, key, error);
  });
  if (last === number) return;
  const why = new Error(`The answer came late, and number ${last} exists already.`);
  throw unknownOutcome(sequence, key, why);
}

function pause(deps: AppendDeps, round: number): Promise<void> {
  const longest = Math.min(PAUSE_FIRST_MS * 2 ** Math.min(round, 10), PAUSE_MAX_MS);
  return deps.clock.sleep(longest * (0.5 + deps.randomness.fraction() / 2));
}

function tooLarge<T>(sequence: Sequence<T>, size: number): AppError {
  return new AppError(
    'document_too_large',
    `The ${sequence.name} would be ${size} bytes, above the ${sequence.documentBytesMax} that a document may have. Retire old releases, or shorten the notes; nothing was changed.`,
  );
}

function overtaken<T>(sequence: Sequence<T>): AppError {
  return new AppError(
    'store_unavailable',
    `Other writers changed the ${sequence.name} while this change was tried for ${APPEND_TIME_MAX_MS / 1000} s or longer; nothing was changed. Try again.`,
  );
}

function unknownOutcome<T>(sequence: Sequence<T>, key: string, cause: unknown): AppError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new AppError(
    'outcome_unknown',
    `The store never said whether ${key} was written: the ${sequence.name} may or may not have changed. Run the same command again once the store answers; it completes or changes nothing. (${reason})`,
    { cause },
  );
}
