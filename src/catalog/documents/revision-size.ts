import { REASON_JSON_BYTES_MAX } from '../../domain/reason.ts';
import { growthBytes } from './draft-document.ts';
import type { ChannelJson } from './revision-document.ts';

/** The size limits of a catalog revision. */

/**
 * The limit of a revision, in bytes. It is enough for 5,000 offers that are yanked with the longest reason, each with
 * six files with signatures and minimum systems. It is enough for 4,500 such offers when each has a rollout, too.
 */
export const REVISION_BYTES_MAX = 8 * 1024 * 1024;

/** Room for the other fields of a later change: its author, its channels, the corrupt revisions that it skips. */
const HEADER_BYTES_MAX = 64 * 1024;

type Channels = Readonly<Record<string, ChannelJson>>;

/**
 * The size in bytes that a revision can reach without new offers: publishers offer every draft, and then yank every
 * offer with the longest reason. While this size is within the limit, publishers can always withdraw a release.
 */
export function withdrawnBytes(channels: Channels): number {
  return jsonBytes(channels) + withdrawalBytes(channels);
}

/** The room in bytes that a revision needs besides its channels: see {@link withdrawnBytes}. */
function withdrawalBytes(channels: Channels): number {
  const all = Object.values(channels);
  const reasons = all
    .flatMap(({ offers }) => offers)
    .reduce((sum, { reason }) => sum + REASON_JSON_BYTES_MAX - jsonBytes(reason), 0);
  const opened = all
    .flatMap(({ drafts = [] }) => drafts)
    .reduce((sum, draft) => sum + REASON_JSON_BYTES_MAX + growthBytes(draft), 0);
  return reasons + opened + HEADER_BYTES_MAX;
}

/**
 * The share of {@link REVISION_BYTES_MAX} that a revision needs. At 1, publishers can add no release.
 *
 * @param bytes the size of the JSON of the channels, or of the whole revision
 */
export function fullnessOf(bytes: number, channels: Channels): number {
  return (bytes + withdrawalBytes(channels)) / REVISION_BYTES_MAX;
}

export function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}
