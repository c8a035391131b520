import { DELTA, isDifferential } from '../domain/companion.ts';
import type { Release } from '../domain/release.ts';
import { type Downloads, NO_DOWNLOADS } from './counts.ts';

/** Computes how many downloads of a release fetched only what changed. Pure. */

/** Fewer downloads say little about a release. */
const DOWNLOADS_MIN = 20;

/** The downloads of a release, each once. */
export interface DownloadOutcomes {
  /** Without those that are not known. */
  readonly all: number;
  /** The client fetched only what changed. */
  readonly differential: number;
  /** The client fetched the whole file. */
  readonly whole: number;
  /** The part of `whole` that began as differential downloads. */
  readonly fallback: number;
  readonly resumed: number;
  /**
   * How often requests came from a network address that several clients may share, and named no client. More or fewer
   * downloads may have been behind them.
   */
  readonly notKnown: number;
}

/** A fallback may be counted on the day after its differential download: then it does not count here. */
export function outcomesOf(downloads: Downloads): DownloadOutcomes {
  const { whole, resumed, not_known: notKnown = 0 } = downloads;
  const differential = knownDifferential(downloads);
  const fallback = Math.min(downloads.fallback, differential);
  return {
    all: whole + differential + resumed,
    differential: differential - fallback,
    whole: whole + fallback,
    fallback,
    resumed,
    notKnown,
  };
}

/** The downloads that began as differential ones, without those that are not known. */
export function knownDifferential({ differential, not_known: notKnown = 0 }: Downloads): number {
  return Math.max(0, differential - notKnown);
}

/**
 * The platforms on which most clients downloaded the whole file of a release, although it has a block map or a delta. A
 * platform with few downloads is not among them.
 *
 * @param platforms the downloads of the release by platform
 */
export function findMostlyWhole(
  { artifacts }: Pick<Release, 'artifacts'>,
  platforms: readonly { readonly name: string; readonly downloads?: Downloads | undefined }[],
): readonly string[] {
  const mapped = artifacts.filter(
    (each) => isDifferential(each) || each.companions.some(({ kind }) => kind === DELTA),
  );
  return platforms
    .filter(({ name, downloads }) => {
      const { all, whole, notKnown } = outcomesOf(downloads ?? NO_DOWNLOADS);
      const isMapped = mapped.some(({ platform }) => platform === name);
      return isMapped && all >= DOWNLOADS_MIN && whole > (all + notKnown) / 2;
    })
    .map(({ name }) => name);
}
