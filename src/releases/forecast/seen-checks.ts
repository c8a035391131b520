import { compareVersions, tryParseVersion, type Version } from '../../domain/version.ts';

/** The name that the counts have for versions that no channel lists. */
const UNLISTED = 'other';

/** Checks that clients made, as the stored counts have them. */
export interface SeenChecks {
  readonly channel: string;
  readonly platform: string;
  /** A version that some channel lists or listed; `other` for any other version; `unstated` for no version. */
  readonly version: string;
  readonly checks: number;
}

/** A preview uses the counts of this many days. */
export const SEEN_DAYS = 30;

/** The counted checks of an application from a UTC day on, `2026-11-21`. */
export function seenSince<T extends SeenChecks>(
  rows: readonly (T & { readonly application: string; readonly day: string })[],
  application: string,
  from: string,
): readonly T[] {
  return rows.filter((row) => row.application === application && row.day >= from);
}

/** The versions from `oldest` on and below `below`; null: without that bound. */
interface VersionSpan {
  readonly oldest: string | null;
  readonly below: string | null;
}

/** The counts of checks, by version. */
export interface SeenCounts {
  /** The versions on which clients of the channel were counted. */
  versionsOn(channel: string): readonly string[];
  /**
   * The share of these versions in the checks on a channel from a platform. Only checks with a known version count.
   * Null: there are no such checks.
   */
  shareOf(channel: string, platform: string, versions: VersionSpan): number | null;
}

/** The share of unlisted versions in the checks whose clients stated a version, from 0 to 1. */
export function unlistedPart(seen: readonly SeenChecks[], channel: string): number {
  const own = seen.filter((each) => each.channel === channel);
  const unlisted = sumOf(own.filter(isUnlisted));
  const listed = sumOf(own.filter(({ version }) => tryParseVersion(version) !== undefined));
  return unlisted === 0 ? 0 : unlisted / (listed + unlisted);
}

/** True when the clients ran a version that no channel lists. */
export function isUnlisted({ version }: Pick<SeenChecks, 'version'>): boolean {
  return version === UNLISTED;
}

interface Counted {
  readonly version: Version;
  readonly checks: number;
}

export function countsOf(seen: readonly SeenChecks[]): SeenCounts {
  const byPlace = new Map<string, Counted[]>();
  const byChannel = new Map<string, Set<string>>();
  for (const { channel, platform, version: text, checks } of seen) {
    const version = tryParseVersion(text);
    if (version === undefined || checks === 0) continue;
    const place = `${channel} ${platform}`;
    const counted = byPlace.get(place) ?? [];
    counted.push({ version, checks });
    byPlace.set(place, counted);
    byChannel.set(channel, (byChannel.get(channel) ?? new Set()).add(text));
  }
  return {
    versionsOn: (channel) => [...(byChannel.get(channel) ?? [])],
    shareOf: (channel, platform, { oldest, below }) => {
      const counted = byPlace.get(`${channel} ${platform}`);
      if (counted === undefined) return null;
      const from = tryParseVersion(oldest ?? '');
      const to = tryParseVersion(below ?? '');
      const own = counted.filter(
        ({ version }) =>
          (from === undefined || compareVersions(version, from) >= 0) &&
          (to === undefined || compareVersions(version, to) < 0),
      );
      return sumOf(own) / sumOf(counted);
    },
  };
}

const sumOf = (counted: readonly Pick<SeenChecks, 'checks'>[]): number =>
  counted.reduce((sum, { checks }) => sum + checks, 0);
