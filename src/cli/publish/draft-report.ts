import { optionOf } from '../../catalog/reading/draft-text.ts';
import type { ListedDraft } from '../../catalog/reading/list-drafts.ts';

/** The sentences and the JSON of commands about drafts. */

/** Tells the publisher in whole sentences what to do next with a draft. */
export function nextForDraft({ channel, draft, missing }: ListedDraft): string {
  const on = optionOf(channel);
  if (draft.opens === 'when_signed' && missing.length === 0) {
    return `To offer it, people with keys of ${channel} sign it: slipway sign ${draft.version}${on} --key FILE.`;
  }
  const open = `slipway publish ${draft.version}${on}`;
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
