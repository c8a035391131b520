import { AppError } from '../../core/errors.ts';
import type { Offer } from '../../domain/offer.ts';
import type { ApplicationEvent, ApplicationState } from './application-state.ts';
import { type ApplicationReport, type FaultsReport, nameOfPosition } from './relay.ts';
import type { Fault, Verified } from './release-loader.ts';
import { shareRun } from './shared-run.ts';

/** The part of an application's catalog that following needs. */
interface FollowDeps {
  state(): ApplicationState;
  dispatch(event: ApplicationEvent): void;
  /** Reads the newer revisions. */
  refresh(): Promise<void>;
  /** Verifies the releases that are due, and saves the state. */
  complete(): Promise<void>;
  /** Adopts the results of verifying releases. */
  noteVerified(verified: readonly Verified[]): Promise<void>;
  /** Drops the releases of all other offers. */
  retain(offers: readonly Offer[]): void;
  now(): number;
}

/**
 * Applies the leader's reports to a follower's catalog, one after the other. When reports come faster than the follower
 * applies them, it applies only the newest. Never throws: the state and the log contain failures.
 */
export function createFollower(
  deps: FollowDeps,
): (report: ApplicationReport | FaultsReport) => Promise<void> {
  const { state, dispatch } = deps;
  let newest: ApplicationReport | undefined;
  let applied: ApplicationReport | undefined;
  let faults: ReadonlyMap<string, Fault> | undefined;

  const isBehind = ({ position }: ApplicationReport): boolean =>
    nameOfPosition(state()) !== position || state().source === 'saved';

  /** A read that is under way may have begun before the revision was published, so a second read may be necessary. */
  const catchUp = async (report: ApplicationReport): Promise<void> => {
    await deps.refresh();
    if (isBehind(report)) await deps.refresh();
  };

  const apply = async (report: ApplicationReport): Promise<void> => {
    if (isBehind(report)) await catchUp(report);
    else if (report.failure !== null) {
      const { code, message } = report.failure;
      dispatch({ kind: 'failed', error: new AppError(code, message) });
    } else if (report.confirmedAt !== null) dispatch({ kind: 'confirmed', at: report.confirmedAt });
    dispatch({ kind: 'looked_for', at: deps.now(), missing: report.missing ?? undefined });
    if (faults !== undefined) await adoptFaults(deps, faults);
    // Does not wait: verifying thousands of releases takes minutes, and must not delay the next revision. The log has
    // the failure, and the next report causes another try.
    void deps.complete().catch(() => undefined);
  };

  const applyAll = shareRun(async () => {
    while (newest !== undefined && newest !== applied) {
      applied = newest;
      // The state and the log contain the failure already; the next report causes another try.
      await apply(newest).catch(() => undefined);
    }
  });

  return async (report) => {
    if (report.kind === 'catalog_application') {
      newest = report;
      await applyAll();
      return;
    }
    faults = new Map(report.faults);
    if (applyAll.underWay() === undefined) await adoptFaults(deps, faults);
  };
}

/** Takes over the leader's results: releases that it could not verify, and releases that it could verify again. */
async function adoptFaults(deps: FollowDeps, faults: ReadonlyMap<string, Fault>): Promise<void> {
  const { snapshot, faults: own } = deps.state();
  if (snapshot === undefined || haveSameKeys(own, faults)) return;
  const found = [...faults].map(([digest, fault]): Verified => ({ digest, fault }));
  const cleared = [...own.keys()]
    .filter((digest) => !faults.has(digest))
    .map((digest): Verified => ({ digest, fault: undefined }));
  // Drops the faulty releases, so this process reads and verifies such a release again when its fault is gone.
  deps.retain(snapshot.offers.filter((offer) => !faults.has(offer.manifest.digest)));
  await deps.noteVerified([...found, ...cleared]);
}

/** True when two maps have the same keys. */
export function haveSameKeys(
  a: ReadonlyMap<string, unknown>,
  b: ReadonlyMap<string, unknown>,
): boolean {
  return a === b || (a.size === b.size && [...a.keys()].every((key) => b.has(key)));
}
