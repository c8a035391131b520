import { shareText } from '../domain/rollout-text.ts';
import type { ClientGroup, ForeseenAnswer, ForeseenUpdate } from '../operations/foresee-updates.ts';

/** Groups of clients, and what these are offered, in words. */

const NOTHING_NEWER = 'nothing newer';

/** What the clients of a group get, and where they stay: `1.5.0`, `nothing newer: stays on 1.4.0`. */
export function updateText(group: ForeseenUpdate): string {
  return answerText(group) + staysText(group);
}

/** Where all clients of the group stay. */
function staysText(group: ForeseenUpdate): string {
  const stays = answerText(group) === NOTHING_NEWER && group.newest === group.oldest;
  return stays ? `: stays on ${group.newest}` : '';
}

/** `1.4.0 to 1.2.0` */
export function installedText({ newest, oldest }: ClientGroup): string {
  return newest === oldest ? newest : `${newest} to ${oldest}`;
}

/** What clients get: `1.5.0`, `1.5.0 for 25%, 1.4.0 for others`, `nothing (1.5.0 is paused)`. */
export function answerText(answer: ForeseenAnswer): string {
  const { reached } = answer;
  if (reached.length === 0) return offeredText(answer);
  const shares = reached.map(
    ({ version, share }, index) =>
      `${version} for ${shareText(share)}${index === 0 ? '' : ' of the others'}`,
  );
  return `${shares.join(', ')}, ${offeredText(answer)} for ${shares.length > 1 ? 'the rest' : 'others'}`;
}

function offeredText({ offered, reason, withheld, reached }: ForeseenAnswer): string {
  // Another reason than the rollouts is about a release that these clients cannot have at all.
  if (offered === null && reached.length > 0) return 'nothing';
  switch (reason) {
    case 'offer':
      return String(offered);
    case 'paused':
      return `nothing (${withheld} is paused)`;
    case 'must_step_through':
      return `nothing (${withheld} requires a release in between)`;
    case 'unsupported_platform':
    case 'unsupported_format':
      return `nothing (${withheld} has no build of this kind)`;
    case 'held_by_rollout':
      return `nothing (${withheld} is at 0%)`;
    default:
      return NOTHING_NEWER;
  }
}
