import type { ReleaseDetail, RolloutCounts } from '../../release-answers.ts';
import { useSurroundings } from '../context.ts';
import { count, portion } from '../format.ts';
import { ChannelCell } from '../parts/status.tsx';
import { Time } from '../parts/time.tsx';
import { hrefOf } from '../router.ts';

/** Where the release is offered, and to how many. */
export function OfferedCard({
  app,
  detail,
}: {
  readonly app: string;
  readonly detail: ReleaseDetail;
}) {
  const { start } = useSurroundings();
  const { cells, version, rollouts } = detail;
  const countsOn = (channel: string) =>
    rollouts.find((rollout) => rollout.channel === channel)?.counts ?? null;
  return (
    <section class="card" aria-labelledby="offered-heading">
      <h2 id="offered-heading">Where it is offered</h2>
      {cells.length === 0 && <p>No channel lists this release.</p>}
      <ul class="offered">
        {cells.map((cell) => (
          <li key={cell.channel}>
            <bdi class="channel-name">{cell.channel}</bdi>
            <div>
              <ChannelCell cell={cell} />
              {cell.completeAt !== null && (
                <span class="cell-detail">
                  every client from <Time at={cell.completeAt} ago /> on
                </span>
              )}
              <Running counts={countsOn(cell.channel)} channel={cell.channel} />
            </div>
            {rollouts.some(({ channel }) => channel === cell.channel) && (
              <a
                class="button"
                href={hrefOf({ screen: 'rollout', app, version }, { channel: cell.channel })}
              >
                {start.mayChange && cell.status === 'active' ? 'Change rollout' : 'Rollout'}
                <span class="visually-hidden"> on {cell.channel}</span>
              </a>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

interface RunningProps {
  readonly counts: RolloutCounts | null;
  readonly channel: string;
}

/** How many clients run the release. Services count checks, not clients. */
function Running({ counts, channel }: RunningProps) {
  if (counts === null || counts.recentChecks === 0) return null;
  const { recentChecks, recentChecksOnVersion: own } = counts;
  return (
    <span class="cell-detail">
      {portion(own / recentChecks)} of the checks on {channel} came from clients that run it (
      {count(own)} of {count(recentChecks)}, yesterday and today)
    </span>
  );
}
