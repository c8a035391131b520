import type { Clock } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import type { Announced } from '../../store/sequence/sequence.ts';
import { missingRootSentence } from '../trust/application-trust.ts';
import type { Freshness, FreshRevision } from '../trust/freshness.ts';
import type { SigningDeps, Trust } from '../trust/trust.ts';
import {
  type Confirmation,
  decideProof,
  decideStanding,
  type SavedProof,
} from './decide-freshness.ts';
import { createTimestampRenewal } from './renew-timestamp.ts';
import {
  createFreshnessReport,
  expirySentence,
  refusalSentence,
  timeOf,
} from './report-freshness.ts';

/**
 * Watches how new the state of an application is: see `trust/freshness.ts`. A process that remembers nothing answers no
 * client before it has seen an unexpired timestamp, and a process with a saved state goes on from it while that state is
 * young: see `decideProof`. A running process goes on after the timestamp has expired, and reports it.
 */
export interface FreshnessWatch {
  /** Reads the timestamps when that is due. @throws AppError `store_unavailable`, `store_denied` */
  look(): Promise<void>;
  /** See `ApplicationTrust.floor`. */
  floor(): Announced | undefined;
  /**
   * Starts from the saved state, which this process has verified.
   *
   * @param timestamp the saved timestamp; the process that saved it had verified it
   */
  restore(timestamp: Freshness | undefined, state?: Omit<SavedProof, 'expiresAt'>): void;
  newest(): Freshness | undefined;
  /** Notes that the store has just confirmed this revision. */
  noteConfirmed(revision: number): void;
  /** The last confirmation of a state that was known to be new, for the next start; undefined: there was none. */
  confirmation(): Confirmation | undefined;
  /** Why no client may get an answer; undefined when clients may. */
  refusal(): string | undefined;
  /** When the newest timestamp and the newest root expire; milliseconds since the epoch. */
  expiries(): Expiries;
  /** Sentences for the status. */
  problems(): readonly string[];
  /** Logs once when the timestamp is about to expire, when it has expired, and when clients get no answer. */
  report(): void;
  /** True when the application must be read before its turn: its clients wait for a timestamp. */
  isUrgent(): boolean;
  /**
   * Signs the next timestamp when one is due, and this process has the key of an operator. Never throws: the log has the
   * failure.
   *
   * @param state the live revision, which the store has confirmed
   */
  renew(state: FreshRevision): Promise<void>;
}

export interface Expiries {
  /** 0: the process knows no timestamp. */
  readonly timestamp: number;
  /** Undefined: the root does not expire. */
  readonly root: number | undefined;
}

interface WatchDeps extends SigningDeps {
  readonly application: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly trust: Trust;
}

/**
 * A process renews the timestamp only when it has seen one that was younger than this, and runs since then. Otherwise an
 * attacker who deletes the later documents would make it declare an old state new.
 */
const SEEN_MS = 2 * 3_600_000;
/** A process that starts from a saved state goes on from there, when the timestamp in it is younger than this. */
const SAVED_MS = 24 * 3_600_000;
/** A process looks this often while its clients wait for a timestamp: they get 503, or cannot verify a new release. */
const LOOKED_SOON_MS = 10_000;

/** @returns undefined for an application without a root of trust */
export function createFreshnessWatch(deps: WatchDeps): FreshnessWatch | undefined {
  const { application, clock, trust } = deps;
  const { freshMs } = trust;
  const verifying = trust.of(application);
  if (verifying === undefined) return undefined;
  /** True once the state was proven by the store's clock: a running process goes on. */
  let wasProven = false;
  let saved: SavedProof | undefined;
  let confirmation: Confirmation | undefined;
  let newest: Freshness | undefined;
  let lookedAt = 0;

  // Before the first answer of the store, the clock of this machine decides. It may be wrong, so it decides for the
  // moment only.
  const isProven = (): boolean => {
    const expiresAt = verifying.isRootMissing() ? undefined : newest?.expiresAt;
    return wasProven || decideProof({ now: clock.now(), freshMs, expiresAt, saved });
  };

  const adopt = (found: Freshness | undefined): void => {
    newest = found ?? newest;
    wasProven = isProven();
    if (newest === undefined || verifying.isRootMissing()) return;
    if (clock.now() - newest.signedAt < SEEN_MS) renewal.allow();
  };

  const renewal = createTimestampRenewal({
    ...deps,
    isProven,
    newest: () => newest,
    lookAgain: async () => adopt(await verifying.freshness({ again: true })),
    adopt,
  });
  const report = createFreshnessReport(deps);

  const standing = () => {
    const expiresAt = newest?.expiresAt;
    return decideStanding({ isProven: isProven(), now: clock.now(), freshMs, expiresAt });
  };

  const refusal = (): string | undefined => {
    if (isProven()) return undefined;
    return refusalSentence(application, newest, verifying.isRootMissing());
  };

  return {
    look: async () => {
      const isWaiting = renewal.isBehind() || !isProven();
      lookedAt = clock.now();
      adopt(await verifying.freshness(isWaiting ? { afterMs: LOOKED_SOON_MS } : {}));
    },
    floor: () => verifying.floor(),
    restore: (timestamp, state = { revision: 0, confirmation: undefined }) => {
      saved = { ...state, expiresAt: timestamp?.expiresAt };
      confirmation = state.confirmation;
      if (timestamp === undefined) return;
      verifying.noteFreshness(timestamp);
      // The roots that the saved state knows are read later.
      newest = timestamp;
      if (clock.now() - timestamp.signedAt < SAVED_MS) renewal.allow();
    },
    newest: () => newest,
    noteConfirmed: (revision) => {
      // Otherwise a second restart would believe a state that the first one could not prove.
      if (wasProven) confirmation = { at: clock.now(), revision };
    },
    confirmation: () => confirmation,
    refusal,
    expiries: () => ({
      timestamp: newest?.expiresAt ?? 0,
      root: verifying.knownRoot().expiresAt,
    }),
    problems: () => {
      const found: string[] = [];
      const rootProblem = verifying.rootProblem();
      if (rootProblem !== undefined) found.push(rootProblem);
      const gap = verifying.gapProblem();
      if (gap !== undefined) found.push(gap);
      if (newest !== undefined && verifying.isRootMissing()) {
        found.push(missingRootSentence(application, newest, verifying.knownRoot().version));
      }
      const expiry = expirySentence(application, standing(), newest);
      if (expiry !== undefined) found.push(expiry);
      const why = refusal();
      const since = report.refusedSince();
      if (why !== undefined && since !== undefined) {
        found.push(`${why} Clients have got no answer since ${timeOf(since)}.`);
      }
      return found;
    },
    report: () => {
      const now = standing();
      report.note(now, refusal() ?? expirySentence(application, now, newest));
    },
    isUrgent: () =>
      renewal.isTakeOverDue() || (!isProven() && clock.now() - lookedAt >= LOOKED_SOON_MS),
    renew: renewal.renew,
  };
}
