import { shareText } from '../../domain/rollout-text.ts';
import type {
  ClientGroup,
  ForeseenAnswer,
  ForeseenUpdate,
  InstalledVersions,
} from './foresee-updates.ts';
import { type SeenChecks, unlistedPart } from './seen-checks.ts';

/** Texts about groups of clients, and about the releases that these clients are offered. */

const NOTHING_NEWER = 'nothing newer';

/**
 * The release that the clients of a group get, or the version on which they stay: `1.5.0`, `nothing newer: stays on
 * 1.4.0`.
 */
export function updateText(group: ForeseenUpdate): string {
  return answerText(group) + staysText(group);
}

/** Names the version on which all clients of the group stay. */
function staysText(group: ForeseenUpdate): string {
  const { newest = null, oldest = null } = group.installed ?? {};
  const stays = answerText(group) === NOTHING_NEWER && newest !== null && newest === oldest;
  return stays ? `: stays on ${newest}` : '';
}

/**
 * `1.4.0 to 1.2.0`, `1.2.0 and older (8.0% of checks)`, `1.2.0 (8.0% to 14.0% of checks)`, `new visitors`
 *
 * @param seen the shares of the counted checks on the platforms of these clients, from 0 to 1; null: no counts
 */
export function installedText(
  installed: InstalledVersions | null,
  seen: readonly (number | null)[],
): string {
  if (installed === null) return 'new visitors';
  const shares = seen.filter((share) => share !== null);
  if (shares.length === 0) return versionsText(installed);
  const least = percentText(Math.min(...shares));
  const most = percentText(Math.max(...shares));
  const share = least === most ? least : `${least} to ${most}`;
  return `${versionsText(installed)} (${share} of checks)`;
}

function versionsText({ newest, oldest, below }: InstalledVersions): string {
  if (newest !== null && newest === oldest) return newest;
  if (oldest === null) {
    if (newest !== null) return `${newest} and older`;
    return below === null ? 'any version' : `older than ${boundText(below)}`;
  }
  return newest === null
    ? `from ${boundText(oldest)} to before ${below === null ? 'any newer' : boundText(below)}`
    : `${newest} to ${boundText(oldest)}`;
}

/** Writes the bound `2.0.0-0` as 2.0.0, because the first possible version of a release is its first pre-release. */
const boundText = (version: string): string => version.replace(/-0$/, '');

/**
 * Says which line covers a version that the channel never listed. Also says which share of the counted checks came from
 * versions that no channel lists.
 */
export function clientSentences(
  groups: readonly ClientGroup[],
  seen: readonly SeenChecks[],
): readonly string[] {
  if (!groups.some(({ installed }) => installed !== null)) return [];
  const unlisted = [...new Set(groups.map(({ channel }) => channel))].flatMap((channel) => {
    const part = unlistedPart(seen, channel);
    return part === 0
      ? []
      : [
          `On ${channel}, ${percentText(part)} of the counted checks came from versions that no channel lists. No percentage includes them, because their versions are not known.`,
        ];
  });
  return [
    'Each line also covers versions that the channel never listed, up to its next newer version.',
    ...unlisted,
  ];
}

/** Formats a part from 0 to 1, such as `42.0%`. */
export function percentText(part: number): string {
  return `${(100 * part).toFixed(1)}%`;
}

/** The answer to clients: `1.5.0`, `1.5.0 for 25%, 1.4.0 for others`, `nothing (1.5.0 is paused)`. */
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
  // The text already names the release that rollouts offer to some of these clients. Any other reason is about a
  // release that none of these clients can get, so the text leaves the reason out.
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
    case 'no_release':
      return 'nothing';
    default:
      return NOTHING_NEWER;
  }
}
