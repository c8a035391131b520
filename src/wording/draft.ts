import { optionOf } from '../operations/draft-rules.ts';
import { type ListedDraft, targetNames } from '../operations/list-drafts.ts';
import { formatTime } from './time.ts';

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
