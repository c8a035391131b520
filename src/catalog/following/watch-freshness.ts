import type { Clock } from '../../core/clock.ts';
import { isAppError } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import type { ObjectStore } from '../../store/object-store.ts';
import type { Announced } from '../../store/sequence/sequence.ts';
import { freshnessKey } from '../keys.ts';
import { type Freshness, type FreshRevision, findFreshness } from '../trust/freshness.ts';
import { renewFreshness } from '../trust/signing.ts';
import type { Trust } from '../trust/trust.ts';

/**
 * Watches how new the state of an application is: see `trust/freshness.ts`. A process that remembers nothing answers no
 * client before it has seen an unexpired timestamp. A running process goes on after the timestamp has expired, and
 * reports it.
 */
export interface FreshnessWatch {
  /** Reads the timestamps when that is due. @throws AppError `store_unavailable`, `store_denied` */
  look(intervalMs: number): Promise<void>;
  /** The revision that the newest timestamp names: no older state may be used. */
  floor(): Announced | undefined;
  /** Adopts the timestamp of the saved state. */
  restore(saved: Freshness): void;
  newest(): Freshness | undefined;
  /** Why no client may get an answer; undefined when clients may. */
  refusal(): string | undefined;
  /** Sentences for the status. */
  problems(): readonly string[];
  /** Signs the next timestamp when one is due, and this process has the key of an operator. Never throws an AppError. */
  renew(state: FreshRevision): Promise<void>;
}

interface WatchDeps {
  readonly application: string;
  readonly store: ObjectStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly trust: Trust;
}

const RENEWED_AFTER_MS = 3_600_000;
/**
 * A process that started without a saved state renews only a timestamp that is newer than this. Otherwise an attacker
 * who deletes the later documents would make it declare an old state new.
 */
const RENEWED_UNSEEN_MS = 2 * 3_600_000;

/** @returns undefined for an application without a root of trust */
export function createFreshnessWatch(deps: WatchDeps): FreshnessWatch | undefined {
  const { application, store, clock, log, trust } = deps;
  const verifying = trust.of(application);
  if (verifying === undefined) return undefined;
  let newest: Freshness | undefined;
  let knownRoot = verifying.anchor.version;
  let isProven = false;
  let remembers = false;
  let lookedAt: number | undefined;
  let hasFailed = false;

  const adopt = (found: Freshness | undefined): void => {
    if (found === undefined || found.version < (newest?.version ?? 0)) return;
    newest = found;
    // An attacker can delete the newest root, to bring back a key that this root removed.
    if (clock.now() < found.expiresAt && !isMissingRoot()) isProven = true;
  };
  const isMissingRoot = (): boolean => (newest?.rootVersion ?? 0) > knownRoot;

  return {
    look: async (intervalMs) => {
      const now = clock.now();
      if (lookedAt !== undefined && now - lookedAt < intervalMs) return;
      const root = await verifying.lookForRoots();
      knownRoot = root.version;
      adopt(await findFreshness({ store, application }, root, now - trust.freshMs));
      lookedAt = now;
    },
    floor: () =>
      newest && {
        number: newest.revision.revision,
        by: freshnessKey(application, newest.version),
      },
    restore: (saved) => {
      remembers = true;
      // The saved state has the roots as well.
      knownRoot = Math.max(knownRoot, saved.rootVersion);
      adopt(saved);
    },
    newest: () => newest,
    refusal: () => {
      if (isProven) return undefined;
      return `The signed state of ${application} is not known to be new: ${
        newest === undefined
          ? 'the store has no valid timestamp'
          : `its timestamp expired at ${new Date(newest.expiresAt).toISOString()}`
      }. An operator who knows that it is the newest state runs "slipway trust renew".`;
    },
    problems: () => {
      const found: string[] = [];
      const rootProblem = verifying.rootProblem();
      if (rootProblem !== undefined) found.push(rootProblem);
      if (isMissingRoot()) {
        found.push(
          `Root ${newest?.rootVersion} of ${application} is missing: it was deleted from the store.`,
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
      if (!isProven || newest === undefined || (await trust.signers()).length === 0) return;
      const ageMs = clock.now() - newest.signedAt;
      if (ageMs < RENEWED_AFTER_MS || (!remembers && ageMs > RENEWED_UNSEEN_MS)) return;
      if (state.revision < newest.revision.revision) return;
      try {
        newest = await renewFreshness(deps, application, state);
        hasFailed = false;
      } catch (error) {
        if (!isAppError(error)) throw error;
        if (!hasFailed) log.error({ application, err: error }, 'cannot renew the signed timestamp');
        hasFailed = true;
      }
    },
  };
}
