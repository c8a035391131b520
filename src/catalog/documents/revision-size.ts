import { REASON_JSON_BYTES_MAX } from '../../domain/reason.ts';
import { growthBytes } from './draft-document.ts';
import type { ChannelJson } from './revision-document.ts';

/** The size limits of a catalog revision. */

/** In bytes: enough for 10,000 offers with a dozen artifacts each, all yanked with the longest reason. */
export const REVISION_BYTES_MAX = 22 * 1024 * 1024;

/** For the other fields of a later change: its author, its channels, the corrupt revisions it skips. */
const HEADER_BYTES_MAX = 64 * 1024;

/**
 * The size in bytes that a revision can reach without new offers: every draft is offered, and every offer is yanked
 * with the longest reason. While this size is within the limit, a release can always be withdrawn.
 */
export function withdrawnBytes(channels: Readonly<Record<string, ChannelJson>>): number {
  const all = Object.values(channels);
  const reasons = all
    .flatMap(({ offers }) => offers)
    .reduce((sum, { reason }) => sum + REASON_JSON_BYTES_MAX - jsonBytes(reason), 0);
  const opened = all
    .flatMap(({ drafts = [] }) => drafts)
    .reduce((sum, draft) => sum + REASON_JSON_BYTES_MAX + growthBytes(draft), 0);
  return jsonBytes(channels) + reasons + opened + HEADER_BYTES_MAX;
}

export function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}
