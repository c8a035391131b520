import { readCatalog } from '../../catalog/reading/find-revision.ts';
import { type ReaderDeps, readApplications } from '../../catalog/reading/read.ts';
import type { Revision } from '../../catalog/reading/sequences.ts';
import type { Clock } from '../../core/clock.ts';
import { type AppError, isAppError } from '../../core/errors.ts';
import { isoOf } from '../../core/time-text.ts';
import { createNewestKnown } from '../../store/sequence/newest-known.ts';
import type { Seen } from './answers.ts';

/** The catalogs that a console shows: the newest catalogs, or the last known catalogs while the store fails. */

export interface SeenCatalog {
  readonly revision: Revision;
  /** The present time by the store's clock; milliseconds since the epoch. */
  readonly now: number;
  /** The time of the last read of the store; milliseconds since the epoch. */
  readonly readAt: number;
  /** The reason why the store cannot be read at present; null when it can be read. */
  readonly problem: string | null;
}

interface CatalogSource {
  /** @throws AppError `unknown_application`; an error of the store when the console has never read the catalog */
  read(application: string): Promise<SeenCatalog>;
  /** The names of the applications. @throws AppError an error of the store when the console has never read the names */
  applications(): Promise<readonly string[]>;
  /** Tells the source that a change was made: the next {@link CatalogSource.read} reads the store. */
  forget(application: string): void;
}

interface CatalogSourceDeps extends Pick<ReaderDeps, 'store' | 'trust'> {
  /** A clock with the store's time. */
  readonly clock: Clock;
  /** Returns a sentence about an error of the store. In the service, the sentence must not name the bucket. */
  readonly describe: (error: AppError) => string;
}

/** Several open screens poll every few seconds. All requests within this time share one read of the catalog. */
const FRESH_MS = 1_000;
/** When the store takes longer than this, the answer has the last known catalog. */
const WAIT_MAX_MS = 3_000;

/** The last known value of one document, and the state of its reads. */
interface Known<T> {
  value: T | undefined;
  readAt: number;
  /** True when a change was made after the last read began. */
  isOutdated: boolean;
  reading: Promise<T> | undefined;
}

const unknown = <T>(): Known<T> => ({
  value: undefined,
  readAt: 0,
  isOutdated: false,
  reading: undefined,
});

export function createCatalogSource(deps: CatalogSourceDeps): CatalogSource {
  const { store, trust, clock } = deps;
  const reader = { store, trust, newestKnown: createNewestKnown() };
  const catalogs = new Map<string, Known<Revision>>();
  const names = unknown<readonly string[]>();
  return {
    read: async (application) => {
      const known = catalogs.get(application) ?? unknown<Revision>();
      const { value, problem } = await readKnown(deps, known, () =>
        readCatalog(reader, application),
      );
      // Keeps only applications that exist: requests may contain any name, and the map must stay small.
      catalogs.set(application, known);
      return { revision: value, now: clock.now(), readAt: known.readAt, problem };
    },
    applications: async () => (await readKnown(deps, names, () => readApplications(reader))).value,
    forget: (application) => {
      const known = catalogs.get(application);
      if (known === undefined) return;
      known.isOutdated = true;
      // A read that began before the change may return the state before the change.
      known.reading = undefined;
    },
  };
}

async function readKnown<T>(
  { clock, describe }: CatalogSourceDeps,
  known: Known<T>,
  read: () => Promise<T>,
): Promise<{ readonly value: T; readonly problem: string | null }> {
  const { value } = known;
  const isFresh = !known.isOutdated && clock.now() - known.readAt < FRESH_MS;
  if (value !== undefined && isFresh) return { value, problem: null };
  known.reading ??= startReading(clock, known, read);
  // The console has nothing else to show yet. The timeouts of the store limit the wait.
  if (value === undefined) return { value: await known.reading, problem: null };
  const waiting = new AbortController();
  const late = clock.sleep(WAIT_MAX_MS, waiting.signal).then(
    () => ({ value, problem: 'The object store has not answered for 3 seconds.' }),
    () => ({ value, problem: null }),
  );
  try {
    const read = known.reading.then((found) => ({ value: found, problem: null }));
    return await Promise.race([read, late]);
  } catch (error) {
    if (!isAppError(error) || error.kind === 'not_found') throw error;
    return { value, problem: describe(error) };
  } finally {
    waiting.abort();
  }
}

function startReading<T>(clock: Clock, known: Known<T>, read: () => Promise<T>): Promise<T> {
  const reading: Promise<T> = read().then((value) => {
    if (known.reading === reading) {
      known.value = value;
      known.isOutdated = false;
      known.readAt = clock.now();
    }
    return value;
  });
  const done = (): void => {
    if (known.reading === reading) known.reading = undefined;
  };
  reading.then(done, done);
  return reading;
}

/** The fields that say from which state of the catalog an answer about releases was made. */
export function seenOf({ revision, readAt, problem, now }: SeenCatalog): Seen {
  const { revision: number, at, by } = revision.signed;
  return {
    revision: number,
    revisionAt: at,
    revisionBy: by,
    readAt: isoOf(readAt),
    problem,
    now: isoOf(now),
  };
}
