import type { LimitFunction } from 'p-limit';
import type { Clock } from '../../core/clock.ts';
import { AppError } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import { runInTurns } from '../../core/run-in-turns.ts';
import type { ChannelView } from '../../domain/channel.ts';
import type { Offer } from '../../domain/offer.ts';
import type { ObjectStore } from '../../store/object-store.ts';
import { isPresent } from '../../store/presence.ts';
import { createRefusals, type Refusals } from '../../store/sequence/read-checked.ts';
import { type Announced, type Entry, higher } from '../../store/sequence/sequence.ts';
import { revisionKey } from '../documents/keys.ts';
import { brokenChain } from '../reading/chain.ts';
import { asAppError, readOn, type UnknownState } from '../reading/reading.ts';
import type { ApplicationTrust } from '../trust/application-trust.ts';
import type { Trust } from '../trust/trust.ts';
import {
  type ApplicationHealth,
  type ApplicationState,
  describeChange,
  EMPTY_STATE,
  faultsAfter,
  hasOnlyDrafts,
  healthOf,
  isSwapDue,
  reduce,
} from './application-state.ts';
import type { Confirmation } from './decide-freshness.ts';
import { createFileContents } from './file-contents.ts';
import { createFollower } from './follow.ts';
import { type LiveRevision, liveRevisionSequence } from './live-revision.ts';
import { matchSaved, type ReadingStart } from './match-saved.ts';
import type { LoadedRelease } from './read-release.ts';
import type { ApplicationReport, FaultsReport } from './relay.ts';
import { createReleaseLoader } from './release-loader.ts';
import type { SavedState } from './saved-state.ts';
import { type SharedRun, shareRun } from './shared-run.ts';
import { createSnapshotInSteps, headOffers, leaveOutInSteps, type Snapshot } from './snapshot.ts';
import type { SpillFile } from './spill-file.ts';
import {
  FEW_RELEASES_MAX,
  findDue,
  refuse,
  reportVerified,
  type VerificationParts,
  verifyDue,
} from './verify-due.ts';
import { createFreshnessWatch, type FreshnessWatch } from './watch-freshness.ts';

/** One application's catalog in memory, with the snapshot from which the process answers clients. */
export interface ReadyApplication {
  readonly application: string;
  /**
   * @throws AppError `catalog_unavailable` before the first snapshot. An application from `Catalog.application` always
   *   has a snapshot
   */
  snapshot(): Snapshot;
  channel(name: string): ChannelView | undefined;
  /**
   * Returns the release of an offer in the current snapshot, without a promise when the release is in memory. Undefined
   * when the release is faulty; the snapshot then no longer has the offer.
   *
   * @throws AppError `store_unavailable`, `store_denied` when neither the spill file nor the store returns the release
   */
  release(offer: Offer): LoadedRelease | Promise<LoadedRelease | undefined>;
  health(): ApplicationHealth;
  /** Why no client may get an answer although there is a snapshot; undefined when clients may. */
  refusal(): string | undefined;
}

/** What an earlier process of this machine saved about the confirmations of a state. */
interface SavedConfirmations {
  /** The time at which the store last confirmed the state, in milliseconds since the epoch. */
  readonly confirmedAt: number;
  /** See `FreshnessWatch.confirmation`. */
  readonly proven?: Confirmation | undefined;
}

/** Performs the reads for one application, and keeps the resulting state. */
export interface ApplicationCatalog {
  readonly reader: ReadyApplication;
  state(): ApplicationState;
  /**
   * Reads the newer revisions, and makes the newest revision the snapshot. When that fails, the old snapshot stays.
   * Only one run at a time: callers join the run that is under way.
   *
   * @throws AppError `store_unavailable`, `store_denied`, `document_corrupt`, `document_newer`, after it was logged and
   *   recorded in the state
   */
  readonly refresh: SharedRun;
  /**
   * Verifies the releases that are due, and saves the state. Only one run at a time: callers join the run that is under
   * way.
   *
   * @throws AppError `store_unavailable`, `store_denied`, after it was logged
   */
  readonly complete: SharedRun;
  /** True when the process keeps the manifest of every offered release of the newest revision, read or restored. */
  hasAll(): boolean;
  /** True when `complete` verifies many releases, which may take minutes. */
  isVerifyingMany(): boolean;
  /** Starts from the saved state, if the disk has a saved state. */
  restore(confirmations: SavedConfirmations): Promise<void>;
  /** See `FreshnessWatch.confirmation`. */
  confirmation(): Confirmation | undefined;
  /** True when the application must be read before its turn: its clients wait for a signed timestamp. */
  isUrgent(): boolean;
  /** Applies a report of the leader. Never throws. */
  follow(report: ApplicationReport | FaultsReport): Promise<void>;
}

export interface ApplicationCatalogDeps {
  readonly store: ObjectStore;
  readonly clock: Clock;
  readonly log: Log;
  /** Undefined: the process saves no state. */
  readonly savedState: SavedState | undefined;
  /** The file for the manifests of all applications. */
  readonly spill: SpillFile;
  /**
   * The interval at which the process asks the store for the newest revision again, to notice its deletion;
   * milliseconds.
   */
  readonly lossIntervalMs: () => number;
  /** The highest revision that hints announce. */
  readonly announced: () => Announced | undefined;
  /** Undefined: signatures of catalogs do not matter. */
  readonly trust?: Trust | undefined;
  /** Limits the simultaneous requests for releases, for all applications together. */
  readonly requests: LimitFunction;
  /** Limits the applications that verify many releases at once: each takes memory for the releases that wait. */
  readonly bulks: LimitFunction;
  /** Lets one file be read at a time, for all applications. */
  readonly fileReads: LimitFunction;
  /** Aborts when the process stops. */
  readonly stopping: AbortSignal;
  /**
   * True when this process polls the store. Only such a process retries faults, looks for deletions and saves the
   * state.
   */
  readonly leads: () => boolean;
  readonly onChange: (
    application: string,
    before: ApplicationState,
    after: ApplicationState,
  ) => void;
}

export function createApplicationCatalog(
  deps: ApplicationCatalogDeps,
  application: string,
): ApplicationCatalog {
  const { log, savedState } = deps;
  const refusals = createRefusals();
  const contents = createFileContents({ ...deps, application }, (releases, error) =>
    refuse(parts, releases, error),
  );
  const loader = createReleaseLoader({ ...deps, application, refusals, contents });
  let state = EMPTY_STATE;
  let isVerifyingMany = false;
  const watch = deps.trust && createFreshnessWatch({ ...deps, trust: deps.trust, application });
  const parts: Parts = {
    ...deps,
    application,
    watch,
    loader,
    refusals,
    unknown: { newest: undefined },
    matched: { digest: undefined },
    lookedFor: { number: 0, at: 0 },
    state: () => state,
    noteBulk: (isUnderWay) => {
      isVerifyingMany = isUnderWay;
    },
    dispatch: (event) => {
      const before = state;
      state = reduce(before, event);
      for (const { level, facts, message } of describeChange(application, before, state)) {
        log[level](facts, message);
      }
      deps.onChange(application, before, state);
    },
  };
  const save = createSaver(parts);
  const refreshOnce = shareRun(() => refresh(parts));
  const complete = shareRun(async () => {
    try {
      if (state.source !== 'live') return;
      await watch?.look();
      report(parts);
      if (deps.leads()) await lookForNewest(parts);
      await verifyDue(parts);
      if (deps.leads()) await save();
      // Not awaited: a signer may hang, and must not stop the next look.
      if (deps.leads()) void renewFreshness(parts);
      await contents.tend();
    } catch (error) {
      log.warn({ application, err: error }, 'not every release could be verified yet');
      throw error;
    }
  });
  const { retain } = loader;
  return {
    reader: createReader(parts),
    state: () => state,
    hasAll: loader.hasAll,
    isVerifyingMany: () => isVerifyingMany,
    refresh: refreshOnce,
    complete,
    follow: createFollower({
      ...parts,
      refresh: refreshOnce,
      complete,
      noteVerified: (verified) => reportVerified(parts, verified),
      retain,
      now: deps.clock.now,
    }),
    confirmation: () => watch?.confirmation(),
    isUrgent: () => watch?.isUrgent() ?? false,
    restore: async ({ confirmedAt, proven }) => {
      const saved = await savedState?.load(application, deps.trust);
      if (saved === undefined) return;
      const { revision } = saved.revision.signed;
      watch?.restore(saved.freshness, { revision, confirmation: proven });
      const snapshot = await runInTurns(createSnapshotInSteps(saved.revision, new Set()));
      loader.restore(saved.manifests, snapshot.offers);
      parts.dispatch({ kind: 'restored', snapshot, confirmedAt });
    },
  };
}

/** The dependencies that the parts of one application's catalog share. */
interface Parts extends ApplicationCatalogDeps, VerificationParts {
  readonly refusals: Refusals;
  /** Undefined for an application without a root of trust. */
  readonly watch: FreshnessWatch | undefined;
  readonly unknown: UnknownState<LiveRevision>;
  /** The digest of the newest saved revision for which `matchSaved` found the same revision in the store. */
  readonly matched: { digest: string | undefined };
  /** The lost revision that this process last searched for, and the time of that search in milliseconds. */
  readonly lookedFor: { number: number; at: number };
}

function createReader(parts: Parts): ReadyApplication {
  const { application, loader, state, watch } = parts;
  const find = async (offer: Offer): Promise<LoadedRelease | undefined> => {
    const found = await loader.find(offer);
    if (found.fault !== undefined) await reportVerified(parts, [found]);
    return found.release;
  };
  return {
    application,
    snapshot: () => {
      const { snapshot } = state();
      if (snapshot !== undefined) return snapshot;
      throw new AppError('catalog_unavailable', `The catalog of ${application} is not loaded yet.`);
    },
    channel: (name) => state().snapshot?.channels.get(name),
    release: (offer) => loader.get(offer) ?? find(offer),
    health: () => ({
      ...healthOf(application, state(), watch?.problems()),
      expiries: watch?.expiries(),
      isUnverified: parts.trust?.withoutRoot(application)?.isUnverified() === true,
      refusal: state().snapshot && watch?.refusal(),
    }),
    refusal: () => watch?.refusal(),
  };
}

async function refresh(parts: Parts): Promise<void> {
  const { dispatch, state, watch } = parts;
  try {
    await watch?.look();
    const { position, failure, lost } = await readRevisions(parts);
    dispatch({ kind: 'advanced', position, lost });
    const newest = position.newest?.document;
    if (newest !== undefined && isSwapDue(state())) await swap(parts, newest);
    if (failure !== undefined) throw failure;
    dispatch({ kind: 'confirmed', at: parts.clock.now() });
    if (newest !== undefined) watch?.noteConfirmed(newest.signed.revision);
  } catch (error) {
    const known = asAppError(error);
    dispatch({ kind: 'failed', error: known });
    throw known;
  } finally {
    report(parts);
  }
}

/** Logs how new the signed state is, unless clients get nothing for another reason. */
function report({ watch, state }: Parts): void {
  const { snapshot } = state();
  if (snapshot !== undefined && !hasOnlyDrafts(state())) watch?.report();
}

async function readRevisions(parts: Parts) {
  const { store, application, state, refusals, unknown, trust, watch } = parts;
  const { position, source } = state();
  const sequence = liveRevisionSequence(application, trust);
  const verify = (entry: Entry<LiveRevision>, before: Entry<LiveRevision> | undefined) =>
    brokenChain(application, before, entry) ?? olderTrust(trust?.of(application), before, entry);
  const seen = position?.newest;
  const isSaved = source === 'saved' && seen !== undefined;
  const moved = isSaved ? await matchSaved(parts, seen, verify) : undefined;
  const start: ReadingStart = moved ?? { position };
  const read = await readOn(store, sequence, start.position, {
    refusals,
    unknown,
    announced: higher(higher(parts.announced(), watch?.floor()), start.listed),
    lookForLost: () => start.listed !== undefined || isLookDue(parts),
    verify: (entry, before = start.position?.newest) => verify(entry, before),
  });
  const rootless = read.failure === undefined ? trust?.withoutRoot(application) : undefined;
  await rootless?.look(read.position.newest?.document);
  return read;
}

function olderTrust(
  trust: ApplicationTrust | undefined,
  before: Entry<LiveRevision> | undefined,
  { document }: Entry<LiveRevision>,
): AppError | undefined {
  const why = before && trust?.findOlder(before.document.signed, document.signed);
  return why === undefined ? undefined : new AppError('document_corrupt', why);
}

/** Signs the next timestamp for the newest revision, which the store has confirmed. */
async function renewFreshness({ watch, state }: Parts): Promise<void> {
  const { position, failure, missing, lost } = state();
  const newest = position?.newest?.document;
  if (newest?.signed.trust === undefined || failure !== undefined) return;
  if (missing !== undefined || lost !== undefined) return;
  const { digest, signed } = newest;
  await watch?.renew({ revision: signed.revision, digest, trust: newest.signed.trust });
}

/** Says whether to search for a lost revision again. False at most polls, because a search costs a listing. */
function isLookDue({ announced, watch, lookedFor, clock, lossIntervalMs }: Parts): boolean {
  const number = higher(announced(), watch?.floor())?.number ?? 0;
  const isNew = number !== lookedFor.number;
  if (!isNew && clock.now() - lookedFor.at < lossIntervalMs()) return false;
  lookedFor.number = number;
  lookedFor.at = clock.now();
  return true;
}

/**
 * Verifies the releases of a new revision before the process answers clients from this revision. When many releases are
 * due, it verifies only those that most clients get.
 */
async function swap(
  { loader, state, dispatch, clock, leads }: Parts,
  revision: LiveRevision,
): Promise<void> {
  const { snapshot: restored, faults } = state();
  const snapshot =
    restored?.revision === revision
      ? restored
      : await runInTurns(createSnapshotInSteps(revision, faults));
  const due = await findDue({ loader, state, clock, leads }, snapshot);
  const first = due.length > FEW_RELEASES_MAX ? headOffers(snapshot) : due;
  const verified = await Promise.all(first.map((offer) => loader.load(offer)));
  loader.retain(snapshot.offers);
  const prepared = await runInTurns(leaveOutInSteps(snapshot, faultsAfter(state(), verified)));
  dispatch({ kind: 'swapped', snapshot: prepared, verified });
}

/** Asks the store for the newest revision: the polls read only later revisions, so they do not notice its deletion. */
async function lookForNewest(parts: Parts): Promise<void> {
  const { position, lookedForAt } = parts.state();
  const at = parts.clock.now();
  if (position?.newest === undefined || at - lookedForAt < parts.lossIntervalMs()) return;
  const { number } = position.newest;
  const isThere = await isPresent(parts.store, revisionKey(parts.application, number));
  parts.dispatch({ kind: 'looked_for', at, missing: isThere ? undefined : number });
}

/** @returns a function that saves the state on disk when it has changed since the last time */
function createSaver({
  application,
  loader,
  savedState,
  state,
  watch,
}: Parts): () => Promise<void> {
  let saved = '';
  return async () => {
    const { snapshot } = state();
    if (snapshot === undefined || savedState === undefined) return;
    const freshness = watch?.newest();
    const name = `${snapshot.revision.digest} ${loader.count()} ${freshness?.version}`;
    if (name === saved) return;
    const catalog = { revision: snapshot.revision, manifests: loader.manifests(), freshness };
    if (await savedState.save(application, catalog)) saved = name;
  };
}
