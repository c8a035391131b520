import type { AppError } from '../../core/errors.ts';
import {
  type Announced,
  beyondReasons,
  lostReason,
  type Position,
} from '../../store/sequence/sequence.ts';
import { revisionKey } from '../documents/keys.ts';
import { problemsOf, type Reading } from '../reading/reading.ts';
import type { LiveRevision } from './live-revision.ts';
import type { Fault, Verified } from './release-loader.ts';
import { leaveOut, type Snapshot } from './snapshot.ts';
import type { Expiries } from './watch-freshness.ts';

/**
 * The state of one application's catalog in a process, as a value. {@link reduce} makes the next state from a state and
 * an event. `application-catalog.ts` performs the reads that the events report.
 */
export interface ApplicationState extends Reading<LiveRevision> {
  /** The snapshot from which the process answers clients. Undefined before the first revision. */
  readonly snapshot: Snapshot | undefined;
  /**
   * `none`: there is no snapshot. `saved`: the snapshot is from disk, and the store has not confirmed it. `live`: the
   * snapshot is from the store.
   */
  readonly source: 'none' | 'saved' | 'live';
  /** The time at which the store last confirmed the state, in milliseconds since the epoch; undefined: never. */
  readonly confirmedAt: number | undefined;
  /**
   * The releases of the snapshot that could not be verified, by the digests of their manifests. The snapshot leaves out
   * their offers.
   */
  readonly faults: ReadonlyMap<string, Fault>;
  /** The time at which the process last asked the store for the newest revision again; milliseconds since the epoch. */
  readonly lookedForAt: number;
  /** The number of the newest revision, when the store no longer has this revision. */
  readonly missing: number | undefined;
  /** A later revision that a hint announces and the store lacks. */
  readonly lost: Announced | undefined;
}

export const EMPTY_STATE: ApplicationState = {
  position: undefined,
  failure: undefined,
  snapshot: undefined,
  source: 'none',
  confirmedAt: undefined,
  faults: new Map(),
  lookedForAt: 0,
  missing: undefined,
  lost: undefined,
};

/** The result of a read, successful or not. */
export type ApplicationEvent =
  /**
   * The state that an earlier process saved. `confirmedAt`: the time at which the store last confirmed the state, in
   * milliseconds since the epoch.
   */
  | { readonly kind: 'restored'; readonly snapshot: Snapshot; readonly confirmedAt: number }
  /** The process has read the sequence of revisions up to its end. */
  | {
      readonly kind: 'advanced';
      readonly position: Position<LiveRevision>;
      readonly lost?: Announced | undefined;
    }
  /** The process can answer clients from the newest revision. `verified`: the results of verifying its releases. */
  | {
      readonly kind: 'swapped';
      readonly snapshot: Snapshot;
      readonly verified: readonly Verified[];
    }
  /** A refresh succeeded. */
  | { readonly kind: 'confirmed'; readonly at: number }
  /** A refresh failed: the store did not answer, or the process must not trust its answer. */
  | { readonly kind: 'failed'; readonly error: AppError }
  /**
   * The process asked the store for the newest revision again. `missing`: the number of this revision when the store no
   * longer has it.
   */
  | { readonly kind: 'looked_for'; readonly at: number; readonly missing: number | undefined }
  /**
   * The process has verified releases of the snapshot. `prepared`: a snapshot that already leaves out the faulty
   * releases.
   */
  | {
      readonly kind: 'verified';
      readonly verified: readonly Verified[];
      readonly prepared?: Snapshot | undefined;
    };

/** The state after an event. */
export function reduce(state: ApplicationState, event: ApplicationEvent): ApplicationState {
  switch (event.kind) {
    case 'restored': {
      const { snapshot, confirmedAt } = event;
      // An answer of the store takes precedence over the saved state.
      if (state.position !== undefined || state.snapshot !== undefined) return state;
      return { ...state, source: 'saved', snapshot, confirmedAt, position: positionOf(snapshot) };
    }
    case 'advanced':
      return { ...state, position: event.position, lost: event.lost };
    case 'swapped':
      return { ...withVerified(state, event.snapshot, event.verified), source: 'live' };
    case 'confirmed':
      // The first refresh also counts as a look for the newest revision, because it has just found that revision.
      return {
        ...state,
        failure: undefined,
        confirmedAt: event.at,
        lookedForAt: state.lookedForAt || event.at,
      };
    case 'failed':
      return { ...state, failure: event.error };
    case 'looked_for':
      return { ...state, lookedForAt: event.at, missing: event.missing };
    case 'verified': {
      if (state.snapshot === undefined) return state;
      const { prepared } = event;
      // The process may have changed to another revision while it prepared this snapshot.
      const isPresent = prepared?.revision === state.snapshot.revision;
      return withVerified(state, isPresent ? prepared : state.snapshot, event.verified);
    }
  }
}

function positionOf({ revision }: Snapshot): Position<LiveRevision> {
  const number = revision.signed.revision;
  return { newest: { number, document: revision }, corrupt: [], last: number, holes: [] };
}

/** Returns the faults after a verification: adds the faults that it found, and removes the faults that are gone. */
export function faultsAfter(
  { faults }: Pick<ApplicationState, 'faults'>,
  verified: readonly Verified[],
): ApplicationState['faults'] {
  const found = new Map(faults);
  for (const { digest, fault } of verified) {
    if (fault === undefined) found.delete(digest);
    else found.set(digest, fault);
  }
  return found;
}

/** Keeps the faults of the snapshot's own releases, and leaves their offers out of the snapshot. */
function withVerified(
  state: ApplicationState,
  snapshot: Snapshot,
  verified: readonly Verified[],
): ApplicationState {
  const found = faultsAfter(state, verified);
  if (found.size === 0) return { ...state, faults: found, snapshot: leaveOut(snapshot, found) };
  const offered = new Set(snapshot.offers.map((offer) => offer.manifest.digest));
  const faults = new Map([...found].filter(([digest]) => offered.has(digest)));
  return { ...state, faults, snapshot: leaveOut(snapshot, faults) };
}

/**
 * True when the process must make a new snapshot from the newest revision. After a start from a saved state, it makes a
 * new snapshot when the store answers, to verify the releases.
 */
export function isSwapDue({ position, snapshot, source }: ApplicationState): boolean {
  const newest = position?.newest?.document;
  return newest !== undefined && (newest !== snapshot?.revision || source === 'saved');
}

/** True when no refresh has succeeded or failed yet. */
export function isUntried({ position, source, failure }: ApplicationState): boolean {
  return failure === undefined && (position === undefined || source === 'saved');
}

/** True when the store did not answer the last refresh. */
export function isUnreached({ failure }: Pick<ApplicationState, 'failure'>): boolean {
  return failure?.kind === 'unavailable';
}

/**
 * Says whether the process can answer clients from a state. `empty`: the application is registered, and nothing is
 * published. `unknown`: the published documents could not be read. `stale`: the store confirmed the state too long ago.
 */
export function usabilityOf(
  state: ApplicationState,
  now: number,
  staleMaxMs: number,
): 'usable' | 'stale' | 'empty' | 'unknown' {
  const { snapshot, confirmedAt, failure, position } = state;
  if (snapshot !== undefined) {
    if (now - (confirmedAt ?? 0) > staleMaxMs) return 'stale';
    return hasOnlyDrafts(state) ? 'empty' : 'usable';
  }
  const isRead = confirmedAt !== undefined && failure === undefined;
  const isWhole = position?.corrupt.length === 0 && position.holes.length === 0;
  return isRead && isWhole ? 'empty' : 'unknown';
}

/**
 * True when clients see no channel of the application: no public answer may name the application before its first
 * offer.
 */
export function hasOnlyDrafts({ snapshot }: ApplicationState): boolean {
  return snapshot?.channels.size === 0;
}

export interface ApplicationHealth {
  /** The number of the revision from which the process answers clients; 0 without a revision. */
  readonly revision: number;
  readonly source: ApplicationState['source'];
  readonly confirmedAt: number | undefined;
  /** Problems of the stored documents or the store, as sentences. */
  readonly problems: readonly string[];
  /** True when the last refresh could not reach the store. */
  readonly storeFailing: boolean;
  /** Undefined for an application without a root of trust. */
  readonly expiries?: Expiries | undefined;
  /** See `RootlessApplication`. */
  readonly isUnverified?: boolean;
  /** Why no client may get an answer, as a sentence that may be public; undefined when clients may. */
  readonly refusal?: string | undefined;
}

/** @param trustProblems problems of the application's signatures, as sentences */
export function healthOf(
  application: string,
  state: ApplicationState,
  trustProblems: readonly string[] = [],
): ApplicationHealth {
  const keyOf = (number: number): string => revisionKey(application, number);
  const { snapshot, source, confirmedAt, missing, lost, faults } = state;
  return {
    revision: snapshot?.revision.signed.revision ?? 0,
    source,
    confirmedAt,
    problems: [
      ...problemsOf(state, keyOf),
      ...(missing === undefined
        ? []
        : [`${keyOf(missing)} is missing: it was deleted from the store.`]),
      ...(lost === undefined
        ? []
        : [lostReason(keyOf(lost.number), lost, state.position?.last ?? 0)]),
      ...[...faults.values()].map(({ version, detail }) => `${version} is not offered: ${detail}`),
      ...(snapshot?.revision.refused ?? []),
      ...trustProblems,
    ],
    storeFailing: isUnreached(state),
  };
}

interface LogLine {
  readonly level: 'info' | 'error';
  readonly facts: object;
  readonly message: string;
}

/** The most problems in one line of the log: an attacker can store thousands of corrupt documents. */
const LOGGED_MAX = 10;

/** The lines of the log about a change of state. A problem that stays gets only one line. */
export function describeChange(
  application: string,
  before: ApplicationState,
  after: ApplicationState,
): readonly LogLine[] {
  const lines: LogLine[] = [];
  const add = (level: LogLine['level'], facts: object, message: string): void => {
    lines.push({ level, facts: { application, ...facts }, message });
  };
  const { failure, position, snapshot, missing, lost, faults } = after;
  if (failure !== undefined && failure.message !== before.failure?.message) {
    const facts = { code: failure.code, err: failure };
    add('error', facts, 'cannot refresh the catalog: the last good state stays');
  }
  const isSwapped = snapshot?.revision !== before.snapshot?.revision || before.source !== 'live';
  if (after.source === 'live' && isSwapped) {
    add('info', { revision: snapshot?.revision.signed.revision }, 'catalog revision is live');
  }
  const known = new Set(before.position?.corrupt.map(({ number }) => number));
  const corrupt = (position?.corrupt ?? []).filter(({ number }) => !known.has(number));
  if (corrupt.length > 0) {
    const facts = { corrupt: corrupt.slice(0, LOGGED_MAX), count: corrupt.length };
    add('error', facts, 'corrupt catalog revision: serving the last good one');
  }
  const ignored = new Set(before.position?.beyond?.map(({ number }) => number));
  const far = (position?.beyond ?? []).filter(({ number }) => !ignored.has(number));
  if (far.length > 0) {
    const keyOf = (number: number): string => revisionKey(application, number);
    const facts = { problems: beyondReasons({ beyond: far }, keyOf), count: far.length };
    add('error', facts, 'corrupt objects far above the newest catalog revision are ignored');
  }
  if (missing !== undefined && missing !== before.missing) {
    const key = revisionKey(application, missing);
    add('error', { key }, 'the newest revision was deleted from the store');
  }
  if (lost !== undefined && lost.number !== before.lost?.number) {
    const reason = lostReason(revisionKey(application, lost.number), lost, position?.last ?? 0);
    add(
      'error',
      { reason },
      'a later revision was deleted from the store: serving the last good one',
    );
  }
  const found = [...faults].flatMap(([digest, fault]) =>
    before.faults.has(digest) ? [] : [fault],
  );
  const refused = snapshot?.revision.refused ?? [];
  if (isSwapped && refused.length > 0) {
    add('error', { refused }, 'too few keys signed a release: it is not offered');
  }
  if (found.length > 0) {
    const facts = { faults: found.slice(0, LOGGED_MAX), count: found.length };
    add('error', facts, 'a release cannot be verified: it is not offered');
  }
  return lines;
}
