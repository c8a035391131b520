import { type Clock, type Randomness, waitAtMost } from '../../core/clock.ts';
import { AppError, isAppError } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import { stateDirectoryOf } from '../../core/state-file.ts';
import type { ObjectStore } from '../../store/object-store.ts';
import type { AnnouncedRevision } from '../reading/hints.ts';
import { whyUnusable } from '../reading/reading.ts';
import type { Trust } from '../trust/trust.ts';
import type { ReadyApplication } from './application-catalog.ts';
import {
  type ApplicationHealth,
  type ApplicationState,
  hasOnlyDrafts,
  isUntried,
  usabilityOf,
} from './application-state.ts';
import { haveSameKeys } from './follow.ts';
import { createKeepUp } from './keep-up.ts';
import { createLoadedApplications } from './loaded-applications.ts';
import { type CatalogRelay, type CatalogReport, reportState } from './relay.ts';
import { createSavedState } from './saved-state.ts';
import { createSpillFile } from './spill-file.ts';

export type { ReadyApplication } from './application-catalog.ts';
export type { LoadedRelease } from './read-release.ts';

/** The catalogs of all applications, as this process knows them. The process answers readers from memory. */
export interface Catalog {
  /**
   * Loads the catalogs once, then keeps them up to date until `stop` is called. Resolves after the first attempt, even
   * if the store did not answer, and continues to load the rest. With a relay, only the leader polls the store; the
   * other processes follow the leader's reports.
   */
  start(): Promise<void>;
  /** Polls the store from now on: this process became the leader. */
  lead(): void;
  /** Stops the polls: another process became the leader. */
  stopLeading(): void;
  /** Applies a report of the leader. Never throws. */
  follow(report: CatalogReport): Promise<void>;
  /** @param answered settles when the last request was answered: until then, answers may need manifests */
  stop(answered?: Promise<unknown>): Promise<void>;
  /**
   * Returns an application's catalog with its snapshot.
   *
   * @throws AppError `unknown_application`; `catalog_unavailable` when there is no snapshot, or when the store has not
   *   confirmed the snapshot for too long
   */
  application(name: string): ReadyApplication;
  /** Reads all changes now; for tests and tools. @throws AppError `store_unavailable`, `store_denied` */
  refresh(): Promise<void>;
  /**
   * Reads the changes of one application now, at most once a second, and waits at most a second for them. Never
   * throws.
   */
  lookAgain(name: string): Promise<void>;
  /** True when the health lists the application. It lists every application that exists and has more than drafts. */
  hasPublic(name: string): boolean;
  health(): CatalogHealth;
}

interface CatalogHealth {
  /**
   * True when the process can answer the clients of at least one application, or when no application exists. A faulty
   * application does not affect other applications.
   */
  readonly ready: boolean;
  /** By name, without the applications that have only drafts. */
  readonly applications: Readonly<Record<string, ApplicationHealth>>;
  /** Problems of the list of applications, as sentences. */
  readonly problems: readonly string[];
}

interface CatalogDeps {
  readonly store: ObjectStore;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly log: Log;
  /** The directory of the last good state; undefined: the process saves no state. */
  readonly stateDirectory: string | undefined;
  /** The interval at which the process looks for hints of changes, in milliseconds; see `poll-interval.ts`. */
  readonly pollIntervalMs: number;
  /**
   * The time for which the process answers clients from a state that the store does not confirm again; milliseconds.
   */
  readonly staleMaxMs: number;
  /** Undefined: signatures of catalogs do not matter. */
  readonly trust?: Trust | undefined;
  /** Undefined: this process polls, and no other process follows it. */
  readonly relay?: CatalogRelay | undefined;
}

/**
 * After a restart, the service verifies the files of the releases that it restored. It pauses after each application, for
 * this multiple of the time that the verification took, so that clients hardly notice.
 */
const PAUSE_FACTOR = 9;
/** The time for all applications, with the pauses; milliseconds. The service must notice a deleted file in ten minutes. */
const VERIFIED_WITHIN_MS = 8 * 60_000;
/** Without a pause, the service verifies this number of applications at the same time, so that it keeps the time. */
const VERIFIED_AT_ONCE = 2;
const MANIFESTS_IN_MEMORY =
  'the disk does not take the manifests of releases, so they stay in memory: check DATA_DIR and its free space';
const LOOK_AGAIN_INTERVAL_MS = 1_000;
/** The wait has a limit, because a client waits for the answer. */
const LOOK_AGAIN_WAIT_MS = 1_000;
const RETRY_AFTER_SECONDS = 5;

export function createCatalog(deps: CatalogDeps): Catalog {
  const { store, clock, log, stateDirectory: directory, staleMaxMs } = deps;
  const { location } = store;
  let isWarned = false;
  const spill = createSpillFile(
    directory === undefined ? undefined : stateDirectoryOf({ directory, location }),
    (error) => {
      if (!isWarned) log.warn({ err: error, directory }, MANIFESTS_IN_MEMORY);
      isWarned = true;
    },
  );
  const savedState =
    directory === undefined ? undefined : createSavedState({ directory, location, log, spill });
  const relay = deps.relay ?? ALONE;
  const { leads } = relay;
  const onChange = createReporter(relay, (name) => applications.announced.get(name));
  const stopping = new AbortController();
  const applications = createLoadedApplications({
    ...deps,
    savedState,
    spill,
    leads,
    onChange,
    stopping: stopping.signal,
  });
  const { byName, list } = applications;
  const onList = (): void => {
    const isFailing = list.failure() !== undefined;
    if (leads()) relay.send({ kind: 'catalog_list', names: list.names(), isFailing });
  };
  const onHint = (number: number): void => {
    if (leads()) relay.send({ kind: 'catalog_hint', number });
  };
  const names = (): string[] => [...byName.keys()];
  const isUrgent = (name: string): boolean => byName.get(name)?.isUrgent() === true;
  const keepUp = createKeepUp({ ...deps, ...applications, names, isUrgent, onList, onHint });
  const lookedAt = new Map<string, number>();
  let stopPolls: (() => Promise<void>) | undefined;
  let phase: 'new' | 'started' | 'stopped' = 'new';

  const completeAll = async (): Promise<void> => {
    // Reads the missing releases first and at once, because clients of these releases wait for the store.
    const missing = [...byName.values()].filter((catalog) => !catalog.hasAll());
    await Promise.allSettled(missing.map((catalog) => catalog.complete()));
    const end = clock.now() + VERIFIED_WITHIN_MS;
    const waiting = [...byName.values()];
    const verifyNext = async (): Promise<void> => {
      for (;;) {
        const catalog = waiting.shift();
        if (catalog === undefined || phase === 'stopped') return;
        const began = clock.now();
        await catalog.complete().catch(ignoreLogged);
        if (waiting.length === 0) return;
        const now = clock.now();
        const ownMs = now - began;
        // The applications that wait have equal shares of the time that is left, so slow verifications leave no pauses.
        const pauseMs = Math.min(ownMs * PAUSE_FACTOR, (end - now) / waiting.length - ownMs);
        if (pauseMs > 0) await clock.sleep(pauseMs);
      }
    };
    await Promise.all(Array.from({ length: VERIFIED_AT_ONCE }, verifyNext));
  };

  return {
    start: async () => {
      await applications.restore();
      // Reads the hints first, so every change that the next reads miss has a later hint. When the store does not
      // answer, the poll reads the hints later, and the poll of all applications finds the changes in between. A
      // follower reads hints only here, to learn that an announced revision was deleted and that the state is unknown.
      await keepUp.followHints().catch(ignoreLogged);
      await applications.refreshList().catch(ignoreLogged).finally(onList);
      // The applications with a saved state were read before the hints.
      await applications.refreshAnnounced();
      void completeAll();
      if (phase === 'stopped') return;
      phase = 'started';
      if (leads()) stopPolls ??= keepUp.start();
    },
    lead: () => {
      // Before the start is complete, `start` begins the polls.
      if (phase !== 'started' || stopPolls !== undefined) return;
      stopPolls = keepUp.start();
      // Reads hints at once: the previous leader may have died between a change and its next poll.
      keepUp.followHints().catch(ignoreLogged);
      void completeAll();
    },
    stopLeading: () => {
      void stopPolls?.();
      stopPolls = undefined;
    },
    follow: async (report) => {
      if (report.kind === 'catalog_hint') keepUp.resumeAfter(report.number);
      else if (report.kind === 'catalog_list') {
        const isFailing = list.failure() !== undefined;
        const isSame = report.names.join(' ') === list.names().join(' ');
        if (isSame && list.isKnown() && isFailing === report.isFailing) return;
        await applications.refreshList().catch(ignoreLogged);
      } else {
        // The application is missing when the read of the list failed or came too early.
        if (phase === 'started' && !byName.has(report.application)) {
          await applications.refreshList().catch(ignoreLogged);
        }
        if (report.kind === 'catalog_application' && report.announced !== null) {
          applications.onAnnounced(new Map([[report.application, report.announced]]));
        }
        await byName.get(report.application)?.follow(report);
      }
    },
    stop: async (answered) => {
      phase = 'stopped';
      stopping.abort();
      await Promise.all([stopPolls?.(), answered]);
      await spill.close();
    },
    application: (name) => {
      const catalog = byName.get(name);
      if (catalog === undefined) {
        throw list.isComplete()
          ? unknownApplication(name)
          : unavailable(list.whyIncomplete(), list.failure());
      }
      const usability = usabilityOf(catalog.state(), clock.now(), staleMaxMs);
      const refusal = catalog.reader.refusal();
      if (refusal !== undefined && usability !== 'empty') throw notKnownToBeNew(refusal);
      if (usability === 'usable') {
        // Behind a saved state, the store may have a withdrawal.
        if (isUntried(catalog.state())) applications.readFirst(name);
        return catalog.reader;
      }
      if (usability === 'empty') throw unknownApplication(name);
      if (isAppError(catalog.state().failure, 'root_missing')) throw withoutRoot(name);
      if (usability === 'unknown') {
        applications.readFirst(name);
        throw unavailable(whyUnusable(catalog.state()), catalog.state().failure);
      }
      const { failure } = catalog.state();
      const why = whyUnusable(catalog.state());
      throw unavailable(why, failure, 'was last confirmed too long ago');
    },
    refresh: async () => {
      await applications.refreshList();
      await Promise.all([...byName.values()].map((catalog) => catalog.refresh()));
    },
    lookAgain: async (name) => {
      const catalog = byName.get(name);
      if (catalog === undefined) return;
      const isTooSoon = clock.now() - (lookedAt.get(name) ?? 0) < LOOK_AGAIN_INTERVAL_MS;
      if (!isTooSoon) lookedAt.set(name, clock.now());
      const refreshing = isTooSoon ? catalog.refresh.underWay() : catalog.refresh();
      await waitAtMost(clock, LOOK_AGAIN_WAIT_MS, refreshing?.catch(ignoreLogged));
    },
    hasPublic: (name) => {
      const catalog = byName.get(name);
      return catalog !== undefined && !hasOnlyDrafts(catalog.state());
    },
    health: () => {
      const isConfirmed = [...byName.values()]
        .filter(({ reader }) => reader.refusal() === undefined)
        .map((catalog) => catalog.state().confirmedAt ?? 0)
        .some((confirmedAt) => clock.now() - confirmedAt <= staleMaxMs);
      // Reports an outage for every application at once. The states of the applications show the outage much later,
      // because the process reads one application after the other.
      const failing = keepUp.isFailing() ? { storeFailing: true } : {};
      const healths = [...byName]
        .filter(([, catalog]) => !hasOnlyDrafts(catalog.state()))
        .map(([name, { reader }]) => [name, { ...reader.health(), ...failing }] as const);
      return {
        ready: list.isKnown() && (byName.size === 0 || isConfirmed),
        applications: Object.fromEntries(healths),
        problems: [...list.problems(), ...refusedApplications(list.names(), deps.trust)],
      };
    },
  };
}

/** The most applications that the health names because they have no root of trust. */
const REFUSED_MAX = 5;

function refusedApplications(
  names: readonly string[],
  trust: Trust | undefined,
): readonly string[] {
  return names.flatMap((name) => trust?.refusalOf(name) ?? []).slice(0, REFUSED_MAX);
}

function notKnownToBeNew(refusal: string): AppError {
  return new AppError('catalog_unavailable', refusal, { retryAfterSeconds: RETRY_AFTER_SECONDS });
}

function withoutRoot(name: string): AppError {
  const why = `The catalog of ${name} is signed, and this service has no root of trust for it. Its log says what to do.`;
  return new AppError('catalog_unavailable', why, { retryAfterSeconds: RETRY_AFTER_SECONDS });
}

const ALONE: CatalogRelay = { leads: () => true, send: () => undefined };

/** Reports each change of an application's state to the followers. */
function createReporter(
  relay: CatalogRelay,
  announcedOf: (application: string) => AnnouncedRevision | undefined,
) {
  return (application: string, before: ApplicationState, after: ApplicationState): void => {
    if (!relay.leads()) return;
    if (!haveSameKeys(before.faults, after.faults)) {
      relay.send({ kind: 'catalog_faults', application, faults: [...after.faults] });
    }
    relay.send(reportState(application, after, announcedOf(application)));
  };
}

/** Ignores a failure that the log and the health report already contain. The next poll tries again. */
function ignoreLogged(): void {}

function unknownApplication(name: string): AppError {
  const detail = `There is no application ${JSON.stringify(name.slice(0, 80))} here.`;
  return new AppError('unknown_application', detail, { issues: [{ pointer: '/app', detail }] });
}

/** @param why see {@link whyUnusable} */
function unavailable(
  why: string,
  cause: AppError | undefined,
  what = 'could not be loaded',
): AppError {
  return new AppError('catalog_unavailable', `The catalog ${what}: ${why}`, {
    cause,
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}
