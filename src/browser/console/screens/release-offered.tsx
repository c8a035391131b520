import type { ReleaseDetail } from '../../../console/release-answers.ts';
import { useSurroundings } from '../context.ts';
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
                  every client <Time at={cell.completeAt} />
                </span>
              )}
            </div>
            {rollouts.some(({ channel }) => channel === cell.channel) && (
              <a
                class="button"
                href={hrefOf({ screen: 'rollout', app, version }, { channel: cell.channel })}
              >
                {start.mayChange && cell.status !== 'yanked' ? 'Change rollout' : 'Rollout'}
                <span class="visually-hidden"> on {cell.channel}</span>
              </a>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
