import { REASON_JSON_BYTES_MAX } from '../../domain/reason.ts';
import { growthBytes } from './draft-document.ts';
import type { ChannelJson } from './revision-document.ts';

/** The size limits of a catalog revision. */

/**
 * In bytes: enough for 5,000 offers of six files with signatures and minimum systems, or for 4,500 that have a rollout
 * as well, all of them yanked with the longest reason.
 */
export const REVISION_BYTES_MAX = 8 * 1024 * 1024;

/** For the other fields of a later change: its author, its channels, the corrupt revisions it skips. */
const HEADER_BYTES_MAX = 64 * 1024;

type Channels = Readonly<Record<string, ChannelJson>>;

/**
 * The size in bytes that a revision can reach without new offers: every draft is offered, and every offer is yanked
 * with the longest reason. While this size is within the limit, a release can always be withdrawn.
 */
export function withdrawnBytes(channels: Channels): number {
  return jsonBytes(channels) + withdrawalBytes(channels);
}

/** The room in bytes that must remain beside the channels of a revision: see {@link withdrawnBytes}. */
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
 * The share of {@link REVISION_BYTES_MAX} that a revision needs. At 1, no release can be added.
 *
 * @param bytes of its JSON, with or without its other fields
 */
export function fullnessOf(bytes: number, channels: Channels): number {
  return (bytes + withdrawalBytes(channels)) / REVISION_BYTES_MAX;
}

export function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}
