import type { FoundRevision } from '../../catalog/reading/find-revision.ts';

/** The remark about a time in the future. */
export const FORECAST =
  'This is a forecast: rollouts go on as planned until then, and any change that is made until then is unknown.';

/** A warning about revisions that cannot be read and were skipped; empty when there are none. */
export function unreadableRemark({ unreadable }: FoundRevision): readonly string[] {
  if (unreadable.length === 0) return [];
  const which = unreadable.length === 1 ? 'Revision' : 'Revisions';
  return [
    `${which} ${unreadable.join(', ')} cannot be read, and may have been the newest then. "slipway verify" says why.`,
  ];
}
