import type { Simulation } from '../../releases/forecast/simulate-fleet.ts';
import type { VersionTotal } from '../../releases/forecast/summarize-simulation.ts';

/** The versions that a fleet runs over time, for pictures. */

export interface VersionRamp {
  readonly times: Simulation['times'];
  readonly startLabel: StartLabel;
  /** The newest version first; the oldest versions may be joined. */
  readonly bands: readonly Band[];
}

/** The name of the first time: with `--at`, it is not now. */
export type StartLabel = 'now' | 'at start';

interface Band {
  readonly label: string;
  /** The share of all installations at each time, from 0 to 1. */
  readonly shares: readonly number[];
}

/** A reader cannot distinguish more bands. */
const BANDS_MAX = 5;

/** @param totals newest first */
export function rampOf(
  { installations, times }: Pick<Simulation, 'installations' | 'times'>,
  totals: readonly VersionTotal[],
  startLabel: StartLabel = 'now',
): VersionRamp {
  const bands = totals
    .filter(({ counts }) => counts.some((count) => count > 0))
    .map(({ version, counts }) => ({
      label: version,
      shares: counts.map((count) => count / installations),
    }));
  return { times, startLabel, bands: joinOldest(bands) };
}

function joinOldest(bands: readonly Band[]): readonly Band[] {
  if (bands.length <= BANDS_MAX) return bands;
  const older = bands.slice(BANDS_MAX - 1);
  const [first] = older;
  const shares = (first?.shares ?? []).map((_, index) =>
    older.reduce((sum, band) => sum + (band.shares[index] ?? 0), 0),
  );
  const label = `${first?.label} to ${older.at(-1)?.label}`;
  return [...bands.slice(0, BANDS_MAX - 1), { label, shares }];
}

/**
 * `+30m`, `+6h`, `+2d 6h`; the label of the start for less than half a minute.
 * @param ms milliseconds since the first time
 */
export function timeLabel(ms: number, startLabel: StartLabel = 'now'): string {
  const minutes = Math.round(ms / 60_000);
  if (minutes === 0) return startLabel;
  const days = Math.floor(minutes / 1440);
  const hours = Math.floor((minutes % 1440) / 60);
  // A label with days leaves out the minutes.
  const rest = days > 0 ? 0 : minutes % 60;
  const parts = [`${days}d`, `${hours}h`, `${rest}m`].filter((part) => !part.startsWith('0'));
  return `+${parts.join(' ')}`;
}

/** The end of the axis: a little after the last time, so that the last share is seen. */
export function axisEnd({ times }: VersionRamp): number {
  const first = times[0]?.at ?? 0;
  const last = times.at(-1)?.at ?? first;
  return last > first ? last + (last - first) / 10 : first + 3_600_000;
}

/** The shares of all bands at a moment. */
export function sharesAt({ times, bands }: VersionRamp, at: number): readonly number[] {
  const next = times.findIndex((time) => time.at > at);
  const index = next < 0 ? times.length - 1 : Math.max(0, next - 1);
  const from = times[index];
  const to = times[index + 1];
  const grows = from?.growsEvenly === true && to !== undefined;
  const part = grows ? (at - from.at) / (to.at - from.at) : 0;
  return bands.map(({ shares }) => {
    const share = shares[index] ?? 0;
    const later = shares[index + 1] ?? share;
    return share + (later - share) * part;
  });
}
