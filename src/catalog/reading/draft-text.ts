import { formatTime } from '../../core/time-text.ts';
import { DEFAULT_CHANNEL } from '../../domain/channel.ts';
import type { DraftJson } from '../documents/draft-document.ts';
import { type ListedDraft, targetNames } from './list-drafts.ts';

/** Drafts in words, with the commands that act on them. */

/** `1.5.0 is a draft on stable: …`, with the next commands. */
export function draftSentence({ version, opens }: DraftJson, channel: string): string {
  const on = optionOf(channel);
  const verb = opens === 'when_signed' ? 'sign' : 'publish';
  return `${version} is a draft on ${channel}: no client sees it yet. To offer it, run slipway ${verb} ${version}${on}. To discard it, run slipway retire ${version}${on}.`;
}

/** The option that commands need for a channel; empty for the default channel. */
export function optionOf(channel: string): string {
  return channel === DEFAULT_CHANNEL ? '' : ` --channel ${channel}`;
}

/**
 * `waits for macos-arm64 since 2026-11-22 10:00:00Z`, or the same with the command that offers the draft.
 *
 * @param app see `appOption`
 */
export function waitsFor({ channel, draft, missing }: ListedDraft, app = ''): string {
  const since = `since ${formatTime(draft.since)}`;
  if (missing.length > 0) return `waits for ${targetNames(missing)} ${since}`;
  const verb = draft.opens === 'when_signed' ? 'sign' : 'publish';
  return `waits for "slipway ${verb} ${draft.version}${optionOf(channel)}${app}" ${since}`;
}
