import { Component } from 'preact';
import type { Overview, OverviewChannel, OverviewRelease } from '../../release-answers.ts';
import { useSurroundings } from '../context.ts';
import { counted, listed } from '../format.ts';
import { ChannelCell } from '../parts/status.tsx';
import { RowAction } from '../parts/stop.tsx';
import { Time } from '../parts/time.tsx';
import { hrefOf } from '../router.ts';

export interface ListProps {
  readonly overview: Overview;
  readonly releases: readonly OverviewRelease[];
  readonly reload: () => Promise<void>;
}

/** Releases in rows and channels in columns. */
export function OverviewMatrix({ overview, releases, reload }: ListProps) {
  const { start } = useSurroundings();
  const { channels, application } = overview;
  return (
    <table class="matrix">
      <caption class="visually-hidden">Releases by channel, newest version first</caption>
      <thead>
        <tr>
          <th scope="col">Release</th>
          {channels.map((channel) => (
            <ChannelHead key={channel.name} channel={channel} />
          ))}
          {start.mayChange && (
            <th scope="col" class="stop-column">
              <span class="visually-hidden">Pause</span>
            </th>
          )}
        </tr>
      </thead>
      <tbody>
        {releases.map((release) => (
          <Row
            key={release.version}
            app={application}
            release={release}
            channels={channels}
            mayChange={start.mayChange}
            reload={reload}
          />
        ))}
      </tbody>
    </table>
  );
}

const ChannelHead = ({ channel }: { readonly channel: OverviewChannel }) => (
  <th scope="col">
    <bdi class="channel-name" title={channel.name}>
      {channel.name}
    </bdi>
    <span class="channel-facts">{factsOf(channel)}</span>
  </th>
);

function factsOf({ newest, inherits, keep }: OverviewChannel): string {
  const facts = [newest === null ? 'no release for every client' : `newest ${newest}`];
  if (inherits !== null) facts.push(`also ${inherits}`);
  if (keep !== null) facts.push(`keeps ${keep}`);
  return facts.join(' · ');
}

interface RowProps {
  readonly app: string;
  readonly release: OverviewRelease;
  readonly channels: readonly OverviewChannel[];
  readonly mayChange: boolean;
  readonly reload: () => Promise<void>;
}

/** Renders a row again only when its release changed: a list may have a thousand rows. */
class Row extends Component<RowProps> {
  override shouldComponentUpdate(next: RowProps): boolean {
    return next.release !== this.props.release || next.channels !== this.props.channels;
  }

  render({ app, release, channels, mayChange, reload }: RowProps) {
    const { version, targets, releasedAt, cells } = release;
    return (
      <tr>
        <th scope="row">
          <a class="version" href={hrefOf({ screen: 'release', app, version })} title={version}>
            <bdi>{version}</bdi>
          </a>
          <span class="release-facts" title={listed(targets)}>
            <Time at={releasedAt} /> · {counted(targets.length, 'target')}
          </span>
        </th>
        {channels.map(({ name }) => {
          const cell = cells.find(({ channel }) => channel === name);
          return (
            <td key={name}>
              {cell === undefined ? (
                <span class="nothing">
                  <span aria-hidden="true">–</span>
                  <span class="visually-hidden">not on {name}</span>
                </span>
              ) : (
                <ChannelCell cell={cell} />
              )}
            </td>
          );
        })}
        {mayChange && (
          <td class="stop-column">
            <RowAction app={app} release={release} reload={reload} />
          </td>
        )}
      </tr>
    );
  }
}
