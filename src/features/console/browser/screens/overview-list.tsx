import { Component } from 'preact';
import type { Overview, OverviewChannel, OverviewRelease } from '../../answers.ts';
import { useSurroundings } from '../context.ts';
import { counted, listed } from '../format.ts';
import { Button } from '../parts/button.tsx';
import { ChannelCell, isOffered, isPaused, offeringChannels } from '../parts/status.tsx';
import { Time } from '../parts/time.tsx';
import { hrefOf } from '../router.ts';
import { usePause } from '../state/change.ts';
import { PHONE, useMedia } from '../state/media.ts';

/** The releases of the overview, each with a button that pauses the release. */

interface ListProps {
  readonly overview: Overview;
  readonly releases: readonly OverviewRelease[];
  readonly reload: () => Promise<void>;
}

/** A table, or cards in a narrow window. */
export function ReleaseList(props: ListProps) {
  const isPhone = useMedia(PHONE);
  return isPhone ? <Cards {...props} /> : <Matrix {...props} />;
}

/** Releases in rows and channels in columns. */
function Matrix({ overview, releases, reload }: ListProps) {
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
          <MatrixRow
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

interface MatrixRowProps {
  readonly app: string;
  readonly release: OverviewRelease;
  readonly channels: readonly OverviewChannel[];
  readonly mayChange: boolean;
  readonly reload: () => Promise<void>;
}

/** Renders a row again only when its release changed: a list may have a thousand rows. */
class MatrixRow extends Component<MatrixRowProps> {
  override shouldComponentUpdate(next: MatrixRowProps): boolean {
    return next.release !== this.props.release || next.channels !== this.props.channels;
  }

  render({ app, release, channels, mayChange, reload }: MatrixRowProps) {
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

function Cards({ overview, releases, reload }: ListProps) {
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

interface RowProps {
  readonly app: string;
  readonly release: OverviewRelease;
  readonly reload: () => Promise<void>;
}

/**
 * One click pauses a release that some client is offered now. For any other release, a link leads to the release's own
 * screen, because an old release rarely has to be stopped quickly.
 */
function RowAction({ app, release, reload }: RowProps) {
  const { version, isOfferedNow } = release;
  if (isOffered(release)) {
    return isOfferedNow ? (
      <StopButton app={app} release={release} reload={reload} />
    ) : (
      <ReleaseLink app={app} version={version} verb="Pause" kind="quiet" />
    );
  }
  return isPaused(release) ? <ReleaseLink app={app} version={version} verb="Resume" /> : null;
}

function StopButton({ app, release, reload }: RowProps) {
  const { version } = release;
  const { isSending, pause } = usePause(app, version, reload, { tellsFailure: true });
  const channels = offeringChannels(release);
  const names = listed(channels);
  return (
    <span class="stop-row">
      <Button
        kind="stop"
        size="small"
        icon="stop"
        busy={isSending}
        label={`Pause ${version} on ${names}`}
        onClick={() => void pause()}
      >
        Pause
      </Button>
      <span class="cell-detail" title={names} aria-hidden="true">
        on {channels.length > 2 ? counted(channels.length, 'channel') : names}
      </span>
    </span>
  );
}

interface LinkProps {
  readonly app: string;
  readonly version: string;
  readonly verb: 'Pause' | 'Resume';
  readonly kind?: 'plain' | 'quiet';
}

/** A link to the screen of the release. */
const ReleaseLink = ({ app, version, verb, kind = 'plain' }: LinkProps) => (
  <a
    class={`button ${kind} small`}
    href={hrefOf({ screen: 'release', app, version })}
    aria-label={`${verb} ${version}`}
  >
    {verb}…
  </a>
);
