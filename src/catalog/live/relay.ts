import type { AppError, ErrorCode } from '../../core/errors.ts';
import type { AnnouncedRevision } from '../reading/hints.ts';
import type { ApplicationState } from './application-state.ts';
import type { Fault } from './release-loader.ts';

/**
 * Lets the catalogs of several processes on one machine share one poll of the store: one process, the leader, polls and
 * reports the results. The other processes follow: each reads a new revision once, when a report names it.
 */
export interface CatalogRelay {
  /** True when this process is the leader. */
  leads(): boolean;
  /** Sends a report to the followers. Called by the leader only. */
  send(report: CatalogReport): void;
}

/**
 * Plain JSON. Each report replaces the last report of its kind and application, so reports may be lost, but not
 * reordered.
 */
export type CatalogReport =
  | {
      readonly kind: 'catalog_list';
      readonly names: readonly string[];
      /** True when the last read of the list failed. */
      readonly isFailing: boolean;
    }
  | ApplicationReport
  | FaultsReport
  /** The changes up to the hint with this number were read. */
  | { readonly kind: 'catalog_hint'; readonly number: number };

export interface ApplicationReport {
  readonly kind: 'catalog_application';
  readonly application: string;
  /** See {@link nameOfPosition}. */
  readonly position: string;
  /** The time at which the store last confirmed the state, in milliseconds since the epoch; null: never. */
  readonly confirmedAt: number | null;
  /** The reason why the last refresh failed. */
  readonly failure: { readonly code: ErrorCode; readonly message: string } | null;
  /** The number of the newest revision, when the store no longer has this revision. */
  readonly missing: number | null;
  /** The highest revision that hints announce. */
  readonly announced: AnnouncedRevision | null;
}

export interface FaultsReport {
  readonly kind: 'catalog_faults';
  readonly application: string;
  /** The releases that could not be verified, by the digests of their manifests. */
  readonly faults: readonly (readonly [string, Fault])[];
}

export function reportState(
  application: string,
  state: ApplicationState,
  announced: AnnouncedRevision | undefined,
): ApplicationReport {
  const { confirmedAt = null, failure, missing = null } = state;
  return {
    kind: 'catalog_application',
    application,
    position: nameOfPosition(state),
    confirmedAt,
    failure: failure === undefined ? null : failureOf(failure),
    missing,
    announced: announced ?? null,
  };
}

function failureOf({ code, message }: AppError) {
  return { code, message };
}

/**
 * A text that is the same for two processes that have read the same documents. It leaves out the holes in the sequence:
 * only a process that reads the sequence from its beginning finds holes.
 */
export function nameOfPosition({
  position,
  lost,
}: Pick<ApplicationState, 'position' | 'lost'>): string {
  if (position === undefined) return '';
  const { newest, last, corrupt } = position;
  return JSON.stringify([
    last,
    newest?.number,
    newest?.document.digest,
    corrupt.map(({ number }) => number),
    lost?.number,
  ]);
}
