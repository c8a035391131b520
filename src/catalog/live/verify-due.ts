import type { LimitFunction } from 'p-limit';
import type { Clock } from '../../core/clock.ts';
import { isAppError } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import { nextTurn, runInTurns } from '../../core/run-in-turns.ts';
import { mapInSteps } from '../../core/steps.ts';
import type { Offer } from '../../domain/offer.ts';
import type { ObjectStore } from '../../store/object-store.ts';
import { artifactsPrefix } from '../documents/keys.ts';
import { type ApplicationEvent, type ApplicationState, faultsAfter } from './application-state.ts';
import type { OfferedRelease, WrongBytes } from './file-contents.ts';
import type { SeenFiles } from './read-release.ts';
import type { ReleaseLoader, Verified } from './release-loader.ts';
import { leaveOutInSteps, type Snapshot } from './snapshot.ts';

/** Finds and verifies the releases of one application that are due for verification. */

export interface VerificationParts {
  readonly application: string;
  readonly store: ObjectStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly loader: ReleaseLoader;
  /** Limits the applications that verify many releases at once: each takes memory for the releases that wait. */
  readonly bulks: LimitFunction;
  /** True when this process polls the store: it then retries faults. */
  readonly leads: () => boolean;
  state(): ApplicationState;
  dispatch(event: ApplicationEvent): void;
  /** Notes the start and the end of the verification of many releases, which may take minutes. */
  noteBulk(isUnderWay: boolean): void;
}

/**
 * When more releases than this are due, the service uses a new revision before it has verified all of its releases. It
 * also lists the artifacts, because a listing costs fewer requests than one HEAD for each artifact. So many releases
 * are due at a start, after a bulk import, and every nine minutes in a large application.
 */
export const FEW_RELEASES_MAX = 64;
const RELEASES_VERIFIED_AT_ONCE = 8;
/**
 * The shortest time before a poll verifies a faulty release again: a single wrong answer of the store may have caused
 * the fault.
 */
const FAULT_RETRY_MS = 5_000;
/**
 * The time before the next try is at least this time multiplied by the number of faults, so any number of faults costs
 * about a hundred requests a second. A revision can offer 35,000 releases.
 */
const FAULT_RETRY_EACH_MS = 10;

/** Verifies the releases of the snapshot that are due. @throws AppError `store_unavailable`, `store_denied` */
export async function verifyDue(parts: VerificationParts): Promise<void> {
  const { snapshot, faults } = parts.state();
  if (snapshot === undefined) return;
  // The loader does not count the faulty releases that this process took over from a leader.
  if (!parts.loader.isAnyDue() && (faults.size === 0 || !parts.leads())) return;
  const due = await findDue(parts, snapshot);
  if (due.length <= FEW_RELEASES_MAX) return verifyAll(parts, due);
  parts.noteBulk(true);
  await parts.bulks(() => verifyMany(parts, due)).finally(() => parts.noteBulk(false));
}

/** The offers whose releases are due for verification. */
export async function findDue(
  { loader, state, clock, leads }: Pick<VerificationParts, 'loader' | 'state' | 'clock' | 'leads'>,
  { offers }: Snapshot,
): Promise<readonly Offer[]> {
  const { faults } = state();
  const retryMs = Math.max(FAULT_RETRY_MS, faults.size * FAULT_RETRY_EACH_MS);
  const isDue = (offer: Offer): boolean => {
    const fault = faults.size === 0 ? undefined : faults.get(offer.manifest.digest);
    if (fault?.isOfBytes === true && !leads()) return false;
    if (fault !== undefined) return fault.foundAt < clock.now() - retryMs;
    return loader.isDue(offer);
  };
  return (await runInTurns(mapInSteps(offers, (offer) => (isDue(offer) ? [offer] : [])))).flat();
}

/** Updates the snapshot with the results of the verification of some releases. */
export async function reportVerified(
  { state, dispatch }: Pick<VerificationParts, 'state' | 'dispatch'>,
  verified: readonly Verified[],
): Promise<void> {
  const { snapshot } = state();
  const prepared =
    snapshot && (await runInTurns(leaveOutInSteps(snapshot, faultsAfter(state(), verified))));
  dispatch({ kind: 'verified', verified, prepared });
}

/** Leaves out releases whose file has wrong bytes. The loader drops them, so that the next poll verifies them again. */
export async function refuse(
  parts: Pick<VerificationParts, 'loader' | 'state' | 'dispatch' | 'clock'>,
  releases: readonly OfferedRelease[],
  { message: detail }: WrongBytes,
): Promise<void> {
  const foundAt = parts.clock.now();
  const wrong = new Map(
    releases.map(({ digest, version }) => [
      digest,
      { digest, fault: { version, detail, foundAt, isOfBytes: true as const } },
    ]),
  );
  const { offers = [] } = parts.state().snapshot ?? {};
  parts.loader.retain(offers.filter(({ manifest }) => !wrong.has(manifest.digest)));
  await reportVerified(parts, [...wrong.values()]);
}

async function verifyMany(parts: VerificationParts, due: readonly Offer[]): Promise<void> {
  await verifyAll(parts, due, await listFiles(parts));
}

/**
 * Lists all artifacts, unless a listing costs the store more than a HEAD of each artifact. When the listing fails, it
 * returns only some artifacts, and the loader sends one HEAD for each missing artifact.
 */
async function listFiles({ store, application, log }: VerificationParts): Promise<SeenFiles> {
  const seen: SeenFiles = new Map();
  if (store.listsInPages !== true) return seen;
  try {
    for await (const { key, ...file } of store.list(artifactsPrefix(application))) {
      seen.set(key, file);
    }
  } catch (error) {
    if (!isAppError(error)) throw error;
    log.warn({ application, err: error }, 'cannot list the artifacts: each gets a HEAD request');
  }
  return seen;
}

async function verifyAll(
  parts: VerificationParts,
  due: readonly Offer[],
  seen?: SeenFiles,
): Promise<void> {
  const verified: Verified[] = [];
  const waiting = due.values();
  let failure: unknown;
  const verifyNext = async (): Promise<void> => {
    for (const offer of waiting) {
      // The store does not answer. The next poll continues; this poll must not delay it with more tries.
      if (failure !== undefined) return;
      try {
        // A fault that the process finds meanwhile stays: this verification began before it.
        const wasFaulty = parts.state().faults.has(offer.manifest.digest);
        const one = await parts.loader.load(offer, seen);
        if (one.fault !== undefined || wasFaulty) verified.push(one);
      } catch (error) {
        failure ??= error;
      }
      // A release may need no store request. Then only this pause lets the process answer its clients.
      if (seen !== undefined) await nextTurn();
    }
  };
  await Promise.all(Array.from({ length: RELEASES_VERIFIED_AT_ONCE }, verifyNext));
  // Reports all faults in one event: each event with a new fault creates the views of all channels again.
  if (verified.length > 0) await reportVerified(parts, verified);
  if (failure !== undefined) throw failure;
}
