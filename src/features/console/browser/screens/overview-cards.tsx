import { useSurroundings } from '../context.ts';
import { counted } from '../format.ts';
import { ChannelCell } from '../parts/status.tsx';
import { RowAction } from '../parts/stop.tsx';
import { Time } from '../parts/time.tsx';
import { hrefOf } from '../router.ts';
import type { ListProps } from './overview-matrix.tsx';

/** The same releases for a narrow window. */
export function OverviewCards({ overview, releases, reload }: ListProps) {
  const { start } = useSurroundings();
  const app = overview.application;
  return (
    <ul class="cards" aria-label="Releases, newest version first">
      {releases.map((release) => (
        <li key={release.version} class="card release-card">
          <div class="card-head">
            <h2>
              <a
                class="version"
                href={hrefOf({ screen: 'release', app, version: release.version })}
              >
                <bdi>{release.version}</bdi>
              </a>
            </h2>
            {start.mayChange && <RowAction app={app} release={release} reload={reload} />}
          </div>
          <p class="release-facts">
            <Time at={release.releasedAt} /> · {counted(release.targets.length, 'target')}
          </p>
          <dl>
            {release.cells.map((cell) => (
              <div key={cell.channel}>
                <dt>
                  <bdi>{cell.channel}</bdi>
                </dt>
                <dd>
                  <ChannelCell cell={cell} />
                </dd>
              </div>
            ))}
          </dl>
        </li>
      ))}
    </ul>
  );
}
