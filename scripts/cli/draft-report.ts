import { optionOf } from '../../src/operations/draft-rules.ts';
import { type ListedDraft, targetNames } from '../../src/operations/list-drafts.ts';
import { formatTime } from './output.ts';

/** What commands say about drafts. */

/**
 * `waits for macos-arm64 since 2026-11-22 10:00:00Z`, or the command that opens it.
 *
 * @param app see `appOption`
 */
export function waitsFor({ channel, draft, missing }: ListedDraft, app = ''): string {
  const since = `since ${formatTime(draft.since)}`;
  if (missing.length > 0) return `waits for ${targetNames(missing)} ${since}`;
  return `waits for "slipway publish ${draft.version}${optionOf(channel)}${app}" ${since}`;
}

/** What to do next with a draft, in whole sentences. */
export function nextForDraft({ channel, draft, missing }: ListedDraft): string {
  const open = `slipway publish ${draft.version}${optionOf(channel)}`;
  if (missing.length === 0) return `To offer it, run ${open}.`;
  const later =
    draft.opens === 'when_complete'
      ? 'The publish that adds the last missing build offers it to clients.'
      : `Publish the missing builds, then run ${open}.`;
  return `${later} To offer it without them, run ${open} --release-partial.`;
}

/** The draft as `--json` prints it. */
export function draftJson({ channel, draft, missing }: ListedDraft): object {
  const { expect = [], rollout = null } = draft;
  return {
    channel,
    ...draft,
    expect,
    rollout,
    missing: missing.map(({ platform, arch }) => ({ os: platform, arch })),
  };
}
