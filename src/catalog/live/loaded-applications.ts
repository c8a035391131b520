import pLimit from 'p-limit';
import { waitAtMost } from '../../core/clock.ts';
import { isAppError } from '../../core/errors.ts';
import type { AnnouncedRevision, AnnouncedRevisions } from '../reading/hints.ts';
import {
  type ApplicationCatalog,
  type ApplicationCatalogDeps,
  createApplicationCatalog,
} from './application-catalog.ts';
import { type ApplicationList, createApplicationList } from './application-list.ts';
import { type ApplicationState, isUnreached, isUntried } from './application-state.ts';

/** The catalogs that this process has loaded, for the applications in the list and in the saved state. */
interface LoadedApplications {
  readonly list: ApplicationList;
  readonly byName: ReadonlyMap<string, ApplicationCatalog>;
  /** The highest revision of each application that hints announce. */
  readonly announced: AnnouncedRevisions;
  onAnnounced(announced: AnnouncedRevisions): void;
  /**
   * Starts from the saved state, if the disk has a saved state. Begins to read each restored application at once, and does
   * not wait for these reads: a release may have been withdrawn since the state was saved.
   */
  restore(): Promise<void>;
  /**
   * Reads the list, and then each application that this process has not read yet.
   *
   * @throws AppError `store_unavailable`, `store_denied`, `document_corrupt`, `document_newer` when the list cannot be
   *   read; the state of an application contains its problems
   */
  refreshList(): Promise<void>;
  /** Reads the applications again that were read before a hint announced a later revision. Never throws. */
  refreshAnnounced(): Promise<void>;
  /**
   * Reads an application before other applications, because a client waits for it. The application's state and the log
   * contain a failure.
   */
  readFirst(name: string): void;
  /**
   * Repeats the reads, of the list and of applications, that the store did not answer.
   *
   * @throws AppError `store_unavailable`
   */
  refreshFailed(): Promise<void>;
  /** Reads the changes of one application, verifies the releases that are due and saves the state. */
  refreshApplication(name: string): Promise<void>;
}

type LoadedApplicationsDeps = Pick<
  ApplicationCatalogDeps,
  'store' | 'clock' | 'log' | 'savedState' | 'spill' | 'leads' | 'onChange' | 'trust' | 'stopping'
>;

/**
 * The process looks for each application's newest revision again at this interval or less often, to notice its
 * deletion.
 */
const LOSS_INTERVAL_MS = 60_000;
/**
 * The interval is at least this time multiplied by the number of applications, so all applications together cost at
 * most a twentieth of a request a second.
 */
const LOSS_INTERVAL_EACH_MS = 20_000;
const CONFIRMATION_SAVED_EVERY_MS = 60_000;
/**
 * The most simultaneous requests for releases: enough to be quick, and few enough not to slow down clients of the
 * store.
 */
const REQUESTS_MAX = 32;
const BULKS_MAX = 2;
/**
 * The most applications that the process reads at once. Each read waits for several answers of the store, one after the
 * other.
 */
const REFRESHES_MAX = 48;
/**
 * The longest wait for first reads. Longer reads continue in the background: one application must not delay the polls
 * of other applications.
 */
const FIRST_READS_WAIT_MS = 15_000;
/** The most further applications that the process reads at once because clients ask for them. */
const ASKED_FOR_MAX = 8;

export function createLoadedApplications(deps: LoadedApplicationsDeps): LoadedApplications {
  const { clock, savedState } = deps;
  const byName = new Map<string, ApplicationCatalog>();
  const askedFor = new Set<string>();
  const askedForLimit = pLimit(ASKED_FOR_MAX);
  const firstReads = new Map<string, Promise<void>>();
  const firstReadsLimit = pLimit(REFRESHES_MAX);
  const announced = new Map<string, AnnouncedRevision>();
  const list = createApplicationList({ ...deps, announced });
  let savedAt = 0;

  const lossIntervalMs = (): number =>
    Math.max(LOSS_INTERVAL_MS, byName.size * LOSS_INTERVAL_EACH_MS);

  const shared = {
    ...deps,
    lossIntervalMs,
    requests: pLimit(REQUESTS_MAX),
    bulks: pLimit(BULKS_MAX),
    fileReads: pLimit(1),
  };

  const getOrCreate = (name: string): ApplicationCatalog => {
    const catalog =
      byName.get(name) ??
      createApplicationCatalog({ ...shared, announced: () => announced.get(name) }, name);
    byName.set(name, catalog);
    return catalog;
  };

  // An attacker who writes the bucket can put an application into the list, or leave one out.
  const isServed = (name: string): boolean => deps.trust?.refusalOf(name) === undefined;
  deps.trust?.applications.forEach(getOrCreate);

  /** Saves the names of the applications, and the time at which the store last confirmed each application. */
  const saveConfirmations = async (): Promise<void> => {
    savedAt = clock.now();
    const names = [...byName.keys()];
    const confirmedAt = Object.fromEntries(
      [...byName].map(([name, catalog]) => [name, catalog.state().confirmedAt ?? 0]),
    );
    const proven = Object.fromEntries(
      [...byName].flatMap(([name, catalog]) => {
        const confirmation = catalog.confirmation();
        return confirmation === undefined ? [] : [[name, confirmation]];
      }),
    );
    await savedState?.saveApplications({ names, confirmedAt, proven });
  };

  /** Reads an application that was not read yet. While a read waits or runs, further calls share it. */
  const firstRead = (name: string, catalog: ApplicationCatalog): Promise<void> => {
    const reading =
      firstReads.get(name) ??
      firstReadsLimit(async () => {
        // `readFirst` may have read the application meanwhile, for a client.
        if (isFirstReadDue(catalog.state())) await catalog.refresh();
      }).finally(() => firstReads.delete(name));
    firstReads.set(name, reading);
    return reading;
  };

  const refreshList = async (): Promise<void> => {
    const failure = await list.refresh().then(
      () => undefined,
      (error: unknown) => {
        // An attacker can delete the list. The applications with a root of trust exist all the same.
        const hasRoots = (deps.trust?.applications.length ?? 0) > 0;
        if (hasRoots && isAppError(error) && error.kind === 'corrupt') return error;
        throw error;
      },
    );
    list.names().filter(isServed).forEach(getOrCreate);
    // Includes an application from the saved state that is not listed: such a store was rolled back, and the status
    // must report that.
    const untried = [...byName].filter(([, { state }]) => isFirstReadDue(state()));
    // The log and the application's state contain the failure already.
    const reads = Promise.allSettled(untried.map(([name, catalog]) => firstRead(name, catalog)));
    await waitAtMost(clock, FIRST_READS_WAIT_MS, reads);
    if (untried.length > 0) await saveConfirmations();
    if (failure !== undefined) throw failure;
  };

  return {
    list,
    byName,
    refreshList,
    announced,
    onAnnounced: (newer) => {
      for (const [name, one] of newer) {
        if (one.number > (announced.get(name)?.number ?? 0)) announced.set(name, one);
      }
    },
    restore: async () => {
      const saved = await savedState?.loadApplications();
      if (saved === undefined) return;
      // All names come first: a client must not be told that an application does not exist while it is restored.
      const names = saved.names.filter(isServed);
      names.forEach(getOrCreate);
      list.noteRestored();
      for (const name of names) {
        const confirmedAt = saved.confirmedAt[name] ?? 0;
        const catalog = getOrCreate(name);
        await catalog.restore({ confirmedAt, proven: saved.proven?.[name] });
        // Without a saved revision, the read must know what hints announce: the newest revision may have been deleted.
        if (catalog.state().source === 'saved') firstRead(name, catalog).catch(ignoreLogged);
      }
    },
    refreshAnnounced: async () => {
      const behind = [...byName].filter(([name, { state }]) => {
        const { position } = state();
        return position !== undefined && (announced.get(name)?.number ?? 0) > position.last;
      });
      if (behind.length === 0) return;
      const reads = behind.map(([, catalog]) => firstReadsLimit(() => catalog.refresh()));
      await waitAtMost(clock, FIRST_READS_WAIT_MS, Promise.allSettled(reads));
    },
    refreshFailed: async () => {
      if (list.failure()?.kind === 'unavailable') await refreshList();
      const failed = [...byName.values()].filter(({ state }) => isUnreached(state()));
      const limit = pLimit(REFRESHES_MAX);
      await Promise.allSettled(failed.map((catalog) => limit(() => catalog.refresh())));
      const still = failed.find(({ state }) => isUnreached(state()));
      if (still !== undefined) throw still.state().failure;
    },
    readFirst: (name) => {
      const catalog = byName.get(name);
      if (catalog === undefined || askedFor.has(name) || !isUntried(catalog.state())) return;
      askedFor.add(name);
      askedForLimit(() => catalog.refresh())
        .catch(ignoreLogged)
        .finally(() => askedFor.delete(name));
    },
    refreshApplication: async (name) => {
      const catalog = byName.get(name);
      await catalog?.refresh();
      // Does not wait for a verification of many releases: the wait would delay the poll, and the log gets each
      // failure.
      if (catalog?.isVerifyingMany() === false) await catalog.complete();
      if (clock.now() - savedAt >= CONFIRMATION_SAVED_EVERY_MS) await saveConfirmations();
    },
  };
}

/** True until the store has answered the first read: an outage at the start must not delay the read until its turn. */
function isFirstReadDue(state: ApplicationState): boolean {
  return isUntried(state) || (state.source === 'saved' && isUnreached(state));
}

/** Ignores a failure that the log and the application's state already contain. */
function ignoreLogged(): void {}
