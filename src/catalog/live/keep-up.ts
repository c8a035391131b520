import { type Clock, type Randomness, waitAtMost } from '../../core/clock.ts';
import { isAppError } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import { startPolling } from '../../core/polling.ts';
import type { ObjectStore } from '../../store/object-store.ts';
import { type AnnouncedRevisions, readHints, readNewestHints } from '../reading/hints.ts';

/**
 * Keeps the catalog up to date with the store by two polls. The poll of hints makes a change live within seconds. The
 * other poll reads the list of applications and then one application after the other, so a lost hint only delays a
 * change. The polls make no more requests when there are more applications. A third poll reads the applications whose
 * clients wait for a signed timestamp, which no hint announces; usually there are none.
 */
interface KeepUp {
  /**
   * Reads the hints since the last call, and the applications that they name. The first call only notes the revisions
   * that the newest hints announce.
   *
   * @throws AppError `store_unavailable`
   */
  followHints(): Promise<void>;
  /** Continues after a hint that the previous leader has read. */
  resumeAfter(hint: number): void;
  /** True when the store did not answer the last read of hints or of the list of applications. */
  isFailing(): boolean;
  /** Starts the polls. @returns a function that stops them, and resolves when none of them reads any more */
  start(): () => Promise<void>;
}

interface KeepUpDeps {
  readonly store: ObjectStore;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly log: Log;
  readonly pollIntervalMs: number;
  /** The names of the applications known now, in a fixed order. */
  readonly names: () => readonly string[];
  /** Reads the list of applications again. */
  readonly refreshList: () => Promise<void>;
  /** Reads the changes of an application. A call while a read is under way waits for that read. */
  readonly refreshApplication: (name: string) => Promise<void>;
  /** True when an application must be read before its turn. */
  readonly isUrgent: (name: string) => boolean;
  /** Repeats reads that failed during an outage. The state and the log already contain the error of a failure. */
  readonly refreshFailed: () => Promise<void>;
  /** Called with the revisions that hints announce, before their applications are read. */
  readonly onAnnounced: (announced: AnnouncedRevisions) => void;
  /** Called when the changes up to a hint were read. */
  readonly onHint: (hint: number) => void;
  /** Called when the list of applications was read, or could not be read. */
  readonly onList: () => void;
}

/**
 * The polls wait this long for the read of one application. A longer read continues in the background, and the polls
 * continue, too. Reading thousands of corrupt revisions takes minutes, and must not delay the changes of other
 * applications.
 */
const REFRESH_WAIT_MS = 2_000;

/** The poll repeats failed reads for this long after an outage, because the store may still refuse some requests. */
const RECOVERY_MS = 60_000;

export function createKeepUp(deps: KeepUpDeps): KeepUp {
  const { store, pollIntervalMs } = deps;
  let turn = 0;
  /** The number of the newest hint that was read; undefined before the first poll. */
  let hint: number | undefined;
  let isFailing = false;
  /** The time until which failed reads are repeated after an outage; milliseconds since the epoch. */
  let recoversUntil = 0;

  /** Only reads of hints and of the list note an outage: a fault of one application is no outage. */
  const noting = async <T>(read: Promise<T>): Promise<T> => {
    try {
      const result = await read;
      if (isFailing) recoversUntil = deps.clock.now() + RECOVERY_MS;
      isFailing = false;
      return result;
    } catch (error) {
      isFailing = isAppError(error) && error.kind === 'unavailable';
      throw error;
    }
  };

  const refreshList = (): Promise<void> => noting(deps.refreshList()).finally(deps.onList);

  const refreshApplication = (name: string): Promise<void> =>
    waitAtMost(deps.clock, REFRESH_WAIT_MS, passOutages(deps.refreshApplication(name)));

  const takeTurn = async (): Promise<void> => {
    const names = deps.names();
    const name = [undefined, ...names][turn++ % (names.length + 1)];
    await (name === undefined ? passOutages(refreshList()) : refreshApplication(name));
    // With thousands of applications, this poll may read an application only once an hour. So it repeats failed reads
    // here.
    if (deps.clock.now() < recoversUntil) await deps.refreshFailed().catch(() => undefined);
  };

  /** Reads one after the other: after a restore, all applications may be urgent. */
  const readUrgent = async (): Promise<void> => {
    for (const name of deps.names()) if (deps.isUrgent(name)) await refreshApplication(name);
  };

  /** Without applications, the list needs only one read in each interval. */
  const turnMs = (): number => (deps.names().length === 0 ? pollIntervalMs : pollIntervalMs / 2);

  const logged = createLogged(deps.log);

  const followHints = async (): Promise<void> => {
    const from = hint;
    if (from === undefined) {
      const newest = await logged(() => noting(readNewestHints(store, 0)));
      hint = newest.last;
      deps.onAnnounced(newest.announced);
      deps.onHint(hint);
      return;
    }
    const { applications, announced, last } = await logged(() => noting(readHints(store, from)));
    hint = last;
    deps.onAnnounced(announced);
    const known = new Set(deps.names());
    const hasUnlisted = [...(applications ?? [])].some((name) => !known.has(name));
    if (applications === undefined || hasUnlisted) await passOutages(refreshList());
    for (const name of deps.names()) {
      if (applications?.has(name) ?? true) await refreshApplication(name);
    }
    if (last > from) deps.onHint(last);
  };

  return {
    followHints,
    resumeAfter: (read) => {
      hint = Math.max(hint ?? 0, read);
    },
    isFailing: () => isFailing,
    start: () => {
      const stops = [
        startPolling(deps, turnMs, takeTurn),
        startPolling(deps, pollIntervalMs, followHints),
        // It sends requests only for urgent applications, so a short interval costs nothing in most cases.
        startPolling(deps, pollIntervalMs / 2, readUrgent),
      ];
      return async () => {
        await Promise.all(stops.map((stop) => stop()));
      };
    },
  };
}

/** Logs when reading hints begins to fail, and when it works again. */
function createLogged(log: Log) {
  let isFailing = false;
  return async <T>(read: () => Promise<T>): Promise<T> => {
    try {
      const result = await read();
      if (isFailing) log.info({}, 'hints of changes are read again');
      isFailing = false;
      return result;
    } catch (error) {
      if (!isFailing)
        log.warn({ err: error }, 'cannot read hints of changes: changes are seen later');
      isFailing = true;
      throw error;
    }
  };
}

/**
 * Throws only the error of an outage, because an outage slows the poll down. Other errors concern one application or
 * the list. The log has them already, and they must not delay other applications.
 */
async function passOutages(work: Promise<void>): Promise<void> {
  await work.catch((error: unknown) => {
    if (!isAppError(error) || error.kind === 'unavailable') throw error;
  });
}
