import type { Clock } from '../../core/clock.ts';
import { isAppError } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import type { Announced } from '../../store/sequence/sequence.ts';
import type { Freshness, FreshRevision } from '../trust/freshness.ts';
import { renewFreshness } from '../trust/signing.ts';
import type { SigningDeps, Trust } from '../trust/trust.ts';

/**
 * Watches how new the state of an application is: see `trust/freshness.ts`. A process that remembers nothing answers no
 * client before it has seen an unexpired timestamp. A running process goes on after the timestamp has expired, and
 * reports it.
 */
export interface FreshnessWatch {
  /** Reads the timestamps when that is due. @throws AppError `store_unavailable`, `store_denied` */
  look(): Promise<void>;
  /** See `ApplicationTrust.floor`. */
  floor(): Announced | undefined;
  /** Adopts the timestamp of the saved state, which this process verified before it saved it. */
  restore(saved: Freshness): void;
  newest(): Freshness | undefined;
  /** Why no client may get an answer; undefined when clients may. */
  refusal(): string | undefined;
  /** When the newest timestamp and the newest root expire; milliseconds since the epoch. */
  expiries(): Expiries;
  /** Sentences for the status. */
  problems(): readonly string[];
  /**
   * Signs the next timestamp when one is due, and this process has the key of an operator. Never throws: the log has the
   * failure.
   */
  renew(state: FreshRevision): Promise<void>;
}

/** Undefined: the process knows none. */
export interface Expiries {
  readonly timestamp: number | undefined;
  readonly root: number | undefined;
}

interface WatchDeps extends SigningDeps {
  readonly application: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly trust: Trust;
}

const RENEWED_AFTER_MS = 3_600_000;
/** A signer that fails is asked again after this time: a token may lock itself after a few wrong tries. */
const RETRIED_AFTER_MS = 5 * 60_000;
/**
 * A process renews the timestamp only when it has seen one that was younger than this, and runs since then. Otherwise an
 * attacker who deletes the later documents would make it declare an old state new.
 */
const SEEN_MS = 2 * 3_600_000;
/** A process that starts from a saved state goes on from there, when the timestamp in it is younger than this. */
const SAVED_MS = 24 * 3_600_000;

/** @returns undefined for an application without a root of trust */
export function createFreshnessWatch(deps: WatchDeps): FreshnessWatch | undefined {
  const { application, clock, log, trust } = deps;
  const verifying = trust.of(application);
  if (verifying === undefined) return undefined;
  let isProven = false;
  let mayRenew = false;
  let newest: Freshness | undefined;
  let triedAt: number | undefined;

  const adopt = (found: Freshness | undefined, seenMs: number): void => {
    newest = found ?? newest;
    if (newest === undefined || verifying.isRootMissing()) return;
    const now = clock.now();
    if (now < newest.expiresAt) isProven = true;
    if (now - newest.signedAt < seenMs) mayRenew = true;
  };

  return {
    look: async () => adopt(await verifying.freshness(), SEEN_MS),
    floor: () => verifying.floor(),
    restore: (saved) => {
      verifying.noteFreshness(saved);
      // The roots that the saved state knows are read later.
      newest = saved;
      const now = clock.now();
      if (now < saved.expiresAt) isProven = true;
      if (now - saved.signedAt < SAVED_MS) mayRenew = true;
    },
    newest: () => newest,
    expiries: () => ({
      timestamp: newest?.expiresAt,
      root: verifying.knownRoot().expiresAt,
    }),
    refusal: () => {
      if (isProven) return undefined;
      const why =
        newest === undefined
          ? 'the store has no valid timestamp of the last days'
          : `its timestamp expired at ${new Date(newest.expiresAt).toISOString()}`;
      return `The signed state of ${application} is not known to be new: ${why}. An operator who knows that it is the newest state runs "slipway trust renew".`;
    },
    problems: () => {
      const found: string[] = [];
      const rootProblem = verifying.rootProblem();
      if (rootProblem !== undefined) found.push(rootProblem);
      const gap = verifying.gapProblem();
      if (gap !== undefined) found.push(gap);
      if (verifying.isRootMissing()) {
        found.push(
          `Root ${newest?.rootVersion} of ${application} is missing: it was deleted from the store. Restore it from a backup.`,
        );
      }
      if (newest !== undefined && clock.now() >= newest.expiresAt) {
        found.push(
          `The signed timestamp of ${application} expired at ${new Date(newest.expiresAt).toISOString()}: run "slipway trust renew", or set TRUST_KEY for this service.`,
        );
      }
      return found;
    },
    renew: async (state) => {
      const now = clock.now();
      if (!isProven || !mayRenew || newest === undefined) return;
      if (now - newest.signedAt < RENEWED_AFTER_MS) return;
      if (triedAt !== undefined && now - triedAt < RETRIED_AFTER_MS) return;
      triedAt = now;
      try {
        if ((await trust.signers()).length === 0) return;
        newest = await renewFreshness(deps, application, state);
      } catch (error) {
        const facts = { application, err: error };
        if (isAppError(error, 'state_changed')) log.warn(facts, 'the timestamp is not renewed');
        else log.error(facts, 'cannot renew the signed timestamp');
      }
    },
  };
}
