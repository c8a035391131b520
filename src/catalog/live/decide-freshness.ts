import { CLOCK_DIFFERENCE_MAX_MS } from '../../core/clock.ts';

/**
 * Decides how new a process may take a signed state to be, and when it signs that again. Pure: `watch-freshness.ts`
 * collects the facts. Times are milliseconds since the epoch, by the store's clock.
 */

/** The last time at which the store confirmed a state that a process of this machine knew to be new. */
export interface Confirmation {
  readonly at: number;
  /** The number of the catalog revision that the store confirmed. */
  readonly revision: number;
}

/** The facts about a saved state, which this process has verified. */
export interface SavedProof {
  /** The number of the catalog revision in the saved state; 0: there is none. */
  readonly revision: number;
  /** When the saved timestamp expires; undefined: none is saved. */
  readonly expiresAt: number | undefined;
  readonly confirmation: Confirmation | undefined;
}

interface ProofFacts {
  readonly now: number;
  /** The time for which a timestamp is valid: TRUST_FRESH. */
  readonly freshMs: number;
  /** When the newest timestamp expires; undefined: there is none, or the store lacks the root that it names. */
  readonly expiresAt: number | undefined;
  /** Undefined: this process started without a saved state. */
  readonly saved: SavedProof | undefined;
}

/**
 * Says whether a process may answer clients from the state that it has: a timestamp is valid, or the process restarted
 * from a state that it knew to be new a short time ago. A restart is then no worse than having run on. A disk image of last
 * year proves nothing: it would offer releases that were yanked since then.
 */
export function decideProof({ now, freshMs, expiresAt, saved }: ProofFacts): boolean {
  if (expiresAt !== undefined && now < expiresAt) return true;
  if (saved === undefined) return false;
  if (saved.expiresAt !== undefined && now < saved.expiresAt) return true;
  const { confirmation, revision } = saved;
  // The disk may have refused the newer state that the store confirmed.
  if (confirmation === undefined || confirmation.revision > revision) return false;
  const ageMs = now - confirmation.at;
  // A confirmation from the future was made with a wrong clock. It must not count as young until that time comes.
  return ageMs < freshMs && ageMs >= -CLOCK_DIFFERENCE_MAX_MS;
}

/** Operators are warned this long before a timestamp expires, or for the last third of its validity. */
const WARNED_BEFORE_MS = 2 * 86_400_000;

/**
 * `new`: the timestamp is valid. `expiring`: it expires soon. `expired`: it has expired, and this process goes on,
 * because it has seen the state before. `unproven`: no client may get an answer.
 */
export type Standing = 'new' | 'expiring' | 'expired' | 'unproven';

export function decideStanding({
  isProven,
  now,
  freshMs,
  expiresAt,
}: Omit<ProofFacts, 'saved'> & { readonly isProven: boolean }): Standing {
  if (!isProven) return 'unproven';
  if (expiresAt === undefined || now >= expiresAt) return 'expired';
  return expiresAt - now < Math.min(WARNED_BEFORE_MS, freshMs / 3) ? 'expiring' : 'new';
}

const RENEWED_AFTER_MS = 3_600_000;
/** A publisher signs the timestamp of its revision within seconds. After this time, the publisher has probably died. */
const TAKEN_OVER_AFTER_MS = 10_000;
/** A signer that fails is asked again after this time: a token may lock itself after a few wrong tries. */
const RETRIED_AFTER_MS = 5 * 60_000;

interface RenewalFacts {
  readonly now: number;
  /** When the newest timestamp was signed. */
  readonly signedAt: number;
  /** Since when the live revision is later than the revision that the newest timestamp names; undefined: it is not. */
  readonly behindSince: number | undefined;
  /** When the signer was last asked; undefined: it has signed, or was not asked. */
  readonly triedAt: number | undefined;
}

/** Says whether a process that may renew the timestamp signs another one now. */
export function isRenewalDue({ now, signedAt, behindSince, triedAt }: RenewalFacts): boolean {
  if (triedAt !== undefined && now - triedAt < RETRIED_AFTER_MS) return false;
  if (behindSince !== undefined && now - behindSince >= TAKEN_OVER_AFTER_MS) return true;
  return now - signedAt >= RENEWED_AFTER_MS;
}
