import type { Clock, Randomness } from '../clock.ts';
import { AppError, isAppError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { ObjectStore } from '../object-store/object-store.ts';
import { startPolling } from '../polling.ts';
import {
  advance,
  findNewestListed,
  type Position,
  readNewer,
  refuseUnknownState,
} from '../sequence/sequence.ts';
import {
  type ApplicationCatalog,
  type ApplicationHealth,
  createApplicationCatalog,
  publicSentence,
} from './application-catalog.ts';
import { findLastHint, readHints } from './hints.ts';
import { APPLICATIONS_ROOT, isRevisionKey } from './keys.ts';
import { createSavedState } from './saved-state.ts';
import { type Applications, applicationsSequence } from './sequences.ts';

/** Everything that is published, as this process knows it. Reads come from memory. */
export interface Catalog {
  /**
   * Loads everything once, then keeps it up to date until stopped. Resolves after the first attempt,
   * whether or not the store answered; what it could not load it keeps trying.
   */
  start(): Promise<void>;
  stop(): Promise<void>;
  /**
   * An application's catalog, with a state to answer from.
   *
   * @throws AppError `unknown_application`; `catalog_unavailable` when there is no state, or only one
   *   that the store has not confirmed for too long
   */
  application(name: string): ReadyApplication;
  /** Reads everything that is new, now; for tests and tools. @throws AppError the store's */
  refresh(): Promise<void>;
  /**
   * Looks for news now: one request at a time, at most once a second, and no longer than a second is
   * waited for it. Never throws.
   */
  lookAgain(name: string): Promise<void>;
  health(): CatalogHealth;
}

export interface ReadyApplication extends ApplicationCatalog {
  snapshot(): NonNullable<ReturnType<ApplicationCatalog['snapshot']>>;
}

export interface CatalogHealth {
  /** Whether some application can be answered for, or there is none: one that is broken stops no other. */
  readonly ready: boolean;
  readonly applications: Readonly<Record<string, ApplicationHealth>>;
  readonly problems: readonly string[];
}

export interface CatalogDeps {
  readonly store: ObjectStore;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly log: Log;
  /** Where the last good state is kept; undefined keeps none. */
  readonly stateDirectory: string | undefined;
  readonly pollIntervalMs: number;
  /** How long an unconfirmed state is good for. */
  readonly staleMaxMs: number;
}

/** Deletions are looked for once a minute, and with many applications less often: a twentieth of a request a second. */
const LOSS_INTERVAL_MS = 60_000;
const LOSS_INTERVAL_EACH_MS = 20_000;
const LOOK_AGAIN_INTERVAL_MS = 1_000;
const LOOK_AGAIN_WAIT_MS = 1_000;
const CONFIRMATION_SAVED_EVERY_MS = 60_000;
const RETRY_AFTER_SECONDS = 5;

export function createCatalog(deps: CatalogDeps): Catalog {
  const { store, clock, log, staleMaxMs } = deps;
  const savedState =
    deps.stateDirectory === undefined
      ? undefined
      : createSavedState({ directory: deps.stateDirectory, location: store.location, log });
  const applications = new Map<string, ApplicationCatalog>();
  /** Applications whose first refresh is over. */
  const looked = new Set<string>();
  const lookedAt = new Map<string, number>();
  const stops: (() => Promise<void>)[] = [];
  let turn = 0;
  /** The number of the newest hint that was seen. */
  let hint: number | undefined;
  let position: Position<Applications> | undefined;
  let failure: AppError | undefined;
  let known = false;
  let stopped = false;
  let confirmationSavedAt = 0;
  /** Of the store that the saved state is of. */
  let storeId: string | undefined;

  const lossIntervalMs = (): number =>
    Math.max(LOSS_INTERVAL_MS, applications.size * LOSS_INTERVAL_EACH_MS);

  const add = (name: string): ApplicationCatalog => {
    const existing = applications.get(name);
    if (existing !== undefined) return existing;
    const catalog = createApplicationCatalog(
      { store, clock, log, savedState, lossIntervalMs },
      name,
    );
    applications.set(name, catalog);
    return catalog;
  };

  const keepUp = async (catalog: ApplicationCatalog): Promise<void> => {
    await catalog.refresh();
    await catalog.complete();
    await saveConfirmations();
  };

  /**
   * The list and every application in turn, one of them each time: what a process asks of the store does
   * not grow with the number of applications. Hints make the wait short.
   */
  const takeTurn = async (): Promise<void> => {
    const catalogs = [undefined, ...applications.values()];
    const catalog = catalogs[turn++ % catalogs.length];
    await passOutages(catalog === undefined ? refreshApplications() : keepUp(catalog));
  };

  const turnMs = (): number =>
    Math.max(deps.pollIntervalMs / (applications.size + 1), deps.pollIntervalMs / 2);

  const followHints = async (): Promise<void> => {
    if (hint === undefined) {
      hint = await findLastHint(store, 0);
      return;
    }
    const { applications: changed, last } = await readHints(store, hint);
    hint = last;
    const isUnlisted = [...(changed ?? [])].some((name) => !applications.has(name));
    if (changed === undefined || isUnlisted) await passOutages(refreshApplications());
    for (const [name, catalog] of applications) {
      if (changed === undefined || changed.has(name)) await passOutages(keepUp(catalog));
    }
  };

  const readOn = async (): Promise<Position<Applications>> => {
    if (position !== undefined) {
      const { newest, corrupt } = position;
      const from = newest?.number ?? 0;
      return advance(position, await readNewer(store, applicationsSequence, from, corrupt));
    }
    await refuseVanishedStore();
    const found = await findNewestListed(store, applicationsSequence);
    refuseUnknownState(applicationsSequence, found);
    if (found.last === 0) await refuseLostList(store);
    return found;
  };

  /** An empty directory where a store was: its volume is not mounted, most likely. */
  const refuseVanishedStore = async (): Promise<void> => {
    if (storeId === undefined || store.identify === undefined) return;
    if ((await store.identify()) !== undefined) return;
    throw new AppError(
      'store_unavailable',
      `There is no store in ${store.location}, and there was one before. Is its volume mounted? If the store was moved away on purpose, delete the saved state in DATA_DIR/state.`,
    );
  };

  const refreshApplications = async (): Promise<void> => {
    try {
      const next = await readOn();
      const names = next.newest?.document.signed.applications.map(({ name }) => name) ?? [];
      // One that was found through saved state is looked at as well, also when the list has lost it:
      // then the store was rolled back, and status must say so.
      const fresh = [...new Set([...names, ...applications.keys()])].filter(
        (name) => !looked.has(name),
      );
      for (const name of fresh) looked.add(name);
      await Promise.all(fresh.map((name) => add(name).refresh().catch(ignoreReported)));
      position = next;
      failure = undefined;
      known = true;
      if (fresh.length > 0) await saveConfirmations(true);
    } catch (error) {
      const reason = isAppError(error)
        ? error
        : new AppError('internal', String(error), { cause: error });
      if (failure?.message !== reason.message) {
        log.error({ code: reason.code, err: reason }, 'cannot read the list of applications');
      }
      failure = reason;
      throw reason;
    }
  };

  const saveConfirmations = async (now = false): Promise<void> => {
    if (!now && clock.now() - confirmationSavedAt < CONFIRMATION_SAVED_EVERY_MS) return;
    confirmationSavedAt = clock.now();
    const confirmedAt = Object.fromEntries(
      [...applications].map(([name, catalog]) => [name, catalog.confirmedAt() ?? 0]),
    );
    storeId ??= await store.identify?.();
    const names = [...applications.keys()];
    await savedState?.saveApplications({ names, confirmedAt, storeId });
  };

  const restore = async (): Promise<void> => {
    const saved = await savedState?.loadApplications();
    for (const name of saved?.names ?? []) {
      const catalog = add(name);
      await catalog.restore();
      // Without a state there is nothing to trust: its absence would pass for "no such application".
      if (catalog.snapshot() !== undefined) catalog.confirm(saved?.confirmedAt[name] ?? 0);
    }
    if (saved !== undefined) known = true;
    storeId = saved?.storeId;
  };

  const waitFor = async (refreshing: Promise<void> | undefined): Promise<void> => {
    const late = new AbortController();
    await Promise.race([
      refreshing?.catch(ignoreReported),
      clock.sleep(LOOK_AGAIN_WAIT_MS, late.signal).catch(ignoreReported),
    ]);
    late.abort();
  };

  return {
    start: async () => {
      await restore();
      // Before anything is read: what changes from now on is hinted at above this.
      await followHints().catch(ignoreReported);
      await refreshApplications().catch(ignoreReported);
      for (const catalog of applications.values()) catalog.complete().catch(ignoreReported);
      if (stopped) return;
      stops.push(startPolling(deps, turnMs, takeTurn));
      stops.push(startPolling(deps, deps.pollIntervalMs, followHints));
    },
    stop: async () => {
      stopped = true;
      await Promise.all(stops.map((stop) => stop()));
    },
    application: (name) => {
      const catalog = applications.get(name);
      // A list whose newest state is unknown may have named it.
      const isListed = known && (position?.corrupt.length ?? 0) === 0;
      if (catalog === undefined) throw isListed ? unknownApplication(name) : unavailable(failure);
      const confirmedAt = catalog.confirmedAt();
      if (catalog.snapshot() === undefined) {
        // One whose every revision is corrupt is there; one that was only registered is not yet.
        const isUnclear = confirmedAt === undefined || catalog.health().problems.length > 0;
        throw isUnclear ? unavailable(failure) : unknownApplication(name);
      }
      if (clock.now() - (confirmedAt ?? 0) > staleMaxMs) {
        throw unavailable(undefined, 'was last confirmed too long ago');
      }
      return catalog as ReadyApplication;
    },
    refresh: async () => {
      await refreshApplications();
      await Promise.all([...applications.values()].map((catalog) => catalog.refresh()));
    },
    lookAgain: async (name) => {
      const catalog = applications.get(name);
      if (catalog === undefined) return;
      if (clock.now() - (lookedAt.get(name) ?? 0) < LOOK_AGAIN_INTERVAL_MS) {
        await waitFor(catalog.refreshing());
        return;
      }
      lookedAt.set(name, clock.now());
      await waitFor(catalog.refresh());
    },
    health: () => {
      const health = Object.fromEntries(
        [...applications].map(([name, catalog]) => [name, catalog.health()]),
      );
      const problems = [
        ...(failure === undefined ? [] : [publicSentence(failure)]),
        ...(position?.corrupt ?? []).map((damage) => damage.reason),
        ...(position?.holes ?? []).map((hole) => `${applicationsSequence.key(hole)} is missing.`),
      ];
      const ready =
        known &&
        (applications.size === 0 ||
          [...applications.values()].some(
            (catalog) => clock.now() - (catalog.confirmedAt() ?? 0) <= staleMaxMs,
          ));
      return { ready, applications: health, problems };
    },
  };
}

/**
 * No list of applications, and the catalog of one: the list was deleted, or something answers for the
 * store. Without a catalog revision it is only a first publish that was interrupted.
 *
 * @throws AppError `document_corrupt`
 */
async function refuseLostList(store: ObjectStore): Promise<void> {
  for await (const { key } of store.list(APPLICATIONS_ROOT)) {
    if (!isRevisionKey(key)) continue;
    throw new AppError(
      'document_corrupt',
      `The list of applications is missing, and there is ${key}. Restore the objects below applications/ from a backup.`,
    );
  }
}

/** What is wrong with one application, or with the list, must not slow the others down; an outage may. */
async function passOutages(work: Promise<void>): Promise<void> {
  await work.catch((error: unknown) => {
    if (!isAppError(error) || error.kind === 'unavailable') throw error;
  });
}

/** For failures that their source has already put into the log and into its health. */
function ignoreReported(): void {}

function unknownApplication(name: string): AppError {
  const detail = `There is no application ${JSON.stringify(name.slice(0, 80))} here.`;
  return new AppError('unknown_application', detail, { issues: [{ pointer: '/app', detail }] });
}

function unavailable(cause: AppError | undefined, why = 'could not be loaded'): AppError {
  return new AppError(
    'catalog_unavailable',
    `The catalog ${why}: the object store does not answer. Try again shortly.`,
    { cause, retryAfterSeconds: RETRY_AFTER_SECONDS },
  );
}
