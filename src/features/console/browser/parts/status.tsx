import type { ReleaseOnChannel } from '../../answers.ts';
import { listed, percent } from '../format.ts';
import { Icon, type IconName } from './icon.tsx';
import { isReplaced } from './replaced.ts';

type StatusOf = Pick<ReleaseOnChannel, 'status' | 'share' | 'isFrozen' | 'replacement'>;

interface Word {
  readonly text: string;
  readonly icon: IconName;
  readonly tone: 'good' | 'moving' | 'warning' | 'critical' | 'muted';
}

/** The state of a release on a channel in one or two words. */
function wordFor(cell: StatusOf): Word {
  if (cell.status === 'draft') return { text: 'Draft', icon: 'draft', tone: 'muted' };
  if (cell.status === 'paused') return { text: 'Paused', icon: 'pause', tone: 'warning' };
  if (cell.status === 'yanked') return { text: 'Yanked', icon: 'cross', tone: 'critical' };
  if (isReplaced(cell)) {
    return { text: `Replaced by ${cell.replacement?.version}`, icon: 'skip', tone: 'muted' };
  }
  if (cell.isFrozen) return { text: 'Frozen', icon: 'frozen', tone: 'warning' };
  if (isForSome(cell)) {
    return { text: 'Some clients', icon: 'skip', tone: 'muted' };
  }
  if (cell.share >= 10_000) return { text: 'Every client', icon: 'check', tone: 'good' };
  return { text: 'Rolling out', icon: 'ring', tone: 'moving' };
}

export function Status({ cell }: { readonly cell: StatusOf }) {
  const { text, icon, tone } = wordFor(cell);
  return (
    <span class={`status ${tone}`}>
      <Icon name={icon} />
      <bdi>{text}</bdi>
    </span>
  );
}

/** True when only some clients are offered the release, although its rollout has reached every client. */
const isForSome = ({ share, replacement }: StatusOf): boolean =>
  share >= 10_000 && replacement?.isComplete === false;

/** The share of installations, as a bar and as a number. A release that no client is offered any more has none. */
export function ShareBar({ cell }: { readonly cell: StatusOf }) {
  if (isReplaced(cell)) return null;
  const { tone } = wordFor(cell);
  return (
    <span class={`share ${tone}`}>
      <span class="track" aria-hidden="true">
        <span class="fill" style={{ width: `${cell.share / 100}%` }} />
      </span>
      <span class="number">{percent(cell.share)}</span>
    </span>
  );
}

/** Shows what a channel does with a release. */
export function ChannelCell({ cell }: { readonly cell: ReleaseOnChannel }) {
  const detail = detailOf(cell);
  return (
    <span class="cell">
      <span class="cell-line">
        <Status cell={cell} />
        {cell.status === 'active' && !isForSome(cell) && <ShareBar cell={cell} />}
        {cell.status === 'paused' && (
          <span class="muted">
            had reached {cell.share >= 10_000 ? 'every client' : percent(cell.share)}
          </span>
        )}
      </span>
      {detail !== null && (
        <span class="cell-detail" title={detail}>
          <bdi>{detail}</bdi>
        </span>
      )}
    </span>
  );
}

function detailOf(cell: ReleaseOnChannel): string | null {
  const { status, missing, reason, replacement } = cell;
  if (status === 'active' && isForSome(cell)) return `${replacement?.version} is for the others`;
  if (status === 'draft') return missing.length > 0 ? `missing ${listed(missing)}` : null;
  return status === 'active' ? null : reason;
}

interface Cells {
  readonly cells: readonly ReleaseOnChannel[];
}

/** True when some channel offers the release to clients. */
export const isOffered = ({ cells }: Cells): boolean =>
  cells.some(({ status }) => status === 'active');

/** The channels that offer the release; a pause stops it there. */
export const offeringChannels = ({ cells }: Cells): readonly string[] =>
  cells.filter(({ status }) => status === 'active').map(({ channel }) => channel);

export const isPaused = ({ cells }: Cells): boolean =>
  cells.some(({ status }) => status === 'paused');
