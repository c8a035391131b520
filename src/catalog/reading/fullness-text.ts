import { counted } from '../../core/counted.ts';
import type { ChannelJson } from '../documents/revision-document.ts';
import { fullnessOf, jsonBytes } from '../documents/revision-size.ts';

/** Tells publishers and operators that a catalog becomes full, while it still has room. */

/** When at least this share of the room is used, Slipway warns publishers and operators. */
const FULLNESS_WARNING = 0.8;

export const FULLNESS_REMEDY =
  'Run "slipway channels set CHANNEL --keep COUNT" to keep only the newest releases of a channel, or "slipway retire VERSION" to remove one.';

/** Says how full the catalog of an application is; undefined below {@link FULLNESS_WARNING}. */
export function fullnessSentence(
  application: string,
  channels: Readonly<Record<string, ChannelJson>>,
  removedVersions: readonly string[],
): string | undefined {
  const fullness = fullnessOf(jsonBytes(channels) + jsonBytes(removedVersions), channels);
  if (fullness < FULLNESS_WARNING) return undefined;
  const count = releaseCount(channels);
  const percent = Math.min(100, Math.floor(fullness * 100));
  const more = Math.max(0, Math.floor(count / fullness) - count);
  return `The catalog of ${application} is ${percent} % full: it has ${counted(count, 'release')} on its channels, and room for about ${more} more. When it is full, no release can be published.`;
}

/** A release counts on each channel that offers it or holds it back. */
export function releaseCount(channels: Readonly<Record<string, ChannelJson>>): number {
  return Object.values(channels).reduce(
    (sum, { offers, drafts = [] }) => sum + offers.length + drafts.length,
    0,
  );
}
