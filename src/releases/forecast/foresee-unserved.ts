import type { Channels } from '../../catalog/documents/revision-document.ts';
import { viewsOf } from '../../catalog/live/snapshot.ts';
import { findUnserved, type UnservedVisitors } from '../../domain/unserved-visitors.ts';
import type { ChannelStates } from './compare-channels.ts';

/** The new visitors of stored channels who get no release. See {@link findUnserved}. @param now by the store's clock */
export function unservedIn(channels: Channels, now: number): readonly UnservedVisitors[] {
  return findUnserved(viewsOf(channels), now);
}

/** The new visitors who get a release before a change, and none after it. @param now by the store's clock */
export function foreseeUnserved(
  { before, after }: ChannelStates,
  now: number,
): readonly UnservedVisitors[] {
  if (before === after) return [];
  const left = unservedIn(after, now);
  if (left.length === 0) return [];
  const already = unservedIn(before, now);
  return left.filter(
    ({ channel, platform }) =>
      !already.some(
        (each) =>
          each.channel === channel && (each.platform === null || each.platform === platform),
      ),
  );
}

/** `No release is offered to everybody on stable: …` */
export function unservedSentence({ channel, platform }: UnservedVisitors): string {
  return platform === null
    ? `No release is offered to everybody on ${channel}: new visitors get no file, and the download page says "Nothing is released here".`
    : `No release for ${platform} is offered to everybody on ${channel}: new visitors with ${platform} get no file.`;
}

export const UNSERVED_REMEDY =
  'Complete the rollout of a release (slipway rollout VERSION --complete), resume a paused one (slipway resume VERSION), or publish one without --rollout. "slipway releases" lists them.';
