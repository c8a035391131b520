import type { OverviewRelease, ReleaseOnChannel } from '../../answers.ts';
import { isReplaced } from '../parts/replaced.ts';

/** The filter of the overview: by text, status and channel. The filter is part of the address. */

export const STATUSES = ['active', 'rolling_out', 'replaced', 'paused', 'yanked', 'draft'] as const;
export type StatusFilter = (typeof STATUSES)[number];

export interface Filter {
  readonly text: string;
  readonly status: StatusFilter | null;
  readonly channel: string | null;
}

export function parseFilter(query: URLSearchParams): Filter {
  const status = STATUSES.find((known) => known === query.get('status')) ?? null;
  return { text: query.get('q') ?? '', status, channel: query.get('channel') };
}

export const isFiltered = ({ text, status, channel }: Filter): boolean =>
  text.trim() !== '' || status !== null || channel !== null;

export function filterReleases(
  releases: readonly OverviewRelease[],
  { text, status, channel }: Filter,
): readonly OverviewRelease[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return releases.filter((release) => {
    const cells = release.cells.filter((cell) => channel === null || cell.channel === channel);
    if (channel !== null && cells.length === 0) return false;
    if (status !== null && !cells.some((cell) => hasStatus(cell, status))) return false;
    return words.every((word) => matches(release, word));
  });
}

function hasStatus(cell: ReleaseOnChannel, status: StatusFilter): boolean {
  switch (status) {
    case 'active':
      return cell.status === 'active' && !isReplaced(cell);
    case 'rolling_out':
      return cell.status === 'active' && !isReplaced(cell) && cell.share < 10_000;
    case 'replaced':
      return isReplaced(cell);
    default:
      return cell.status === status;
  }
}

const matches = ({ version, targets }: OverviewRelease, word: string): boolean =>
  version.toLowerCase().includes(word) || targets.some((target) => target.includes(word));
