import type { ReleaseOnChannel } from '../../release-answers.ts';
import { listed, percent } from '../format.ts';
import { Icon, type IconName } from './icon.tsx';

interface Word {
  readonly text: string;
  readonly icon: IconName;
  readonly tone: 'good' | 'moving' | 'warning' | 'critical' | 'muted';
}

/** The state of a release on a channel in one or two words. */
function wordFor(cell: Pick<ReleaseOnChannel, 'status' | 'share' | 'isFrozen'>): Word {
  if (cell.status === 'draft') return { text: 'Draft', icon: 'draft', tone: 'muted' };
  if (cell.status === 'paused') return { text: 'Paused', icon: 'pause', tone: 'warning' };
  if (cell.status === 'yanked') return { text: 'Yanked', icon: 'cross', tone: 'critical' };
  if (cell.isFrozen) return { text: 'Frozen', icon: 'frozen', tone: 'warning' };
  if (cell.share >= 10_000) return { text: 'Every client', icon: 'check', tone: 'good' };
  return { text: 'Rolling out', icon: 'ring', tone: 'moving' };
}

type StatusProps = Pick<ReleaseOnChannel, 'status' | 'share' | 'isFrozen'>;

export function Status({ cell }: { readonly cell: StatusProps }) {
  const { text, icon, tone } = wordFor(cell);
  return (
    <span class={`status ${tone}`}>
      <Icon name={icon} />
      {text}
    </span>
  );
}

/** The share of installations, as a bar and as a number. */
export function ShareBar({ cell }: { readonly cell: StatusProps }) {
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

/** What a channel does with a release: the cell of the overview. */
export function ChannelCell({ cell }: { readonly cell: ReleaseOnChannel }) {
  const detail = detailOf(cell);
  return (
    <span class="cell">
      <span class="cell-line">
        <Status cell={cell} />
        {cell.status === 'active' && <ShareBar cell={cell} />}
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

function detailOf({ status, missing, reason }: ReleaseOnChannel): string | null {
  if (status === 'draft') return missing.length > 0 ? `missing ${listed(missing)}` : null;
  return status === 'active' ? null : reason;
}
