import type { ReleaseDetail, RolloutDetail } from '../../release-answers.ts';
import { releaseApi } from '../api.ts';
import { useSurroundings } from '../context.ts';
import { FreshnessBanner, Notice } from '../parts/banner.tsx';
import { Numbers } from '../parts/numbers.tsx';
import { Loading, Page } from '../parts/page.tsx';
import { RampPicture } from '../parts/ramp-picture.tsx';
import { ShareBar, Status } from '../parts/status.tsx';
import { Time } from '../parts/time.tsx';
import { hrefOf } from '../router.ts';
import { usePolled } from '../state/polled.ts';
import { RolloutForm } from './rollout-form.tsx';

interface Props {
  readonly app: string;
  readonly version: string;
  readonly query: URLSearchParams;
}

export function RolloutScreen({ app, version, query }: Props) {
  const polled = usePolled<ReleaseDetail>(releaseApi(app, version));
  const { value, failure, reload } = polled;
  const wanted = query.get('channel');
  const rollouts = value?.rollouts ?? [];
  const shown = rollouts.find(({ channel }) => channel === wanted) ?? rollouts[0];
  return (
    <Page
      title={`Rollout of ${version}`}
      below="How many installations are offered it, and when"
      above={
        <>
          <a href={hrefOf({ screen: 'overview', app })}>
            <bdi>{app}</bdi>
          </a>{' '}
          /{' '}
          <a href={hrefOf({ screen: 'release', app, version })}>
            <bdi>{version}</bdi>
          </a>{' '}
          / Rollout
        </>
      }
    >
      <FreshnessBanner polled={polled} />
      {value === null ? (
        <Loading failure={failure} reload={reload} what="the rollout" rows={10} />
      ) : shown === undefined ? (
        <div class="empty">
          <h2>No channel offers {version}</h2>
          <p>A rollout begins when a channel offers the release:</p>
          <pre class="command">slipway publish {version} dist --rollout 5%</pre>
        </div>
      ) : (
        <>
          <ChannelTabs app={app} version={version} rollouts={rollouts} shown={shown.channel} />
          <Rollout key={shown.channel} app={app} detail={value} rollout={shown} reload={reload} />
        </>
      )}
    </Page>
  );
}

interface TabsProps {
  readonly app: string;
  readonly version: string;
  readonly rollouts: readonly RolloutDetail[];
  readonly shown: string;
}

const ChannelTabs = ({ app, version, rollouts, shown }: TabsProps) =>
  rollouts.length < 2 ? null : (
    <nav class="segments" aria-label="Channel">
      {rollouts.map(({ channel }) => (
        <a
          key={channel}
          href={hrefOf({ screen: 'rollout', app, version }, { channel })}
          aria-current={channel === shown ? 'page' : undefined}
        >
          <bdi>{channel}</bdi>
        </a>
      ))}
    </nav>
  );

interface RolloutProps {
  readonly app: string;
  readonly detail: ReleaseDetail;
  readonly rollout: RolloutDetail;
  readonly reload: () => Promise<void>;
}

function Rollout({ app, detail, rollout, reload }: RolloutProps) {
  const { start } = useSurroundings();
  const completeAt = detail.cells.find(({ channel }) => channel === rollout.channel)?.completeAt;
  return (
    <>
      <section class="card" aria-labelledby="ramp-heading">
        <div class="card-head">
          <h2 id="ramp-heading">
            On <bdi>{rollout.channel}</bdi>
          </h2>
          <span class="cell-line">
            <Status cell={rollout} />
            <ShareBar cell={rollout} />
          </span>
        </div>
        <p class="hint">
          {rollout.plan === null ? (
            'Every client was offered the release from the start.'
          ) : (
            <>
              Plan <code>{rollout.plan}</code>
            </>
          )}
          {rollout.freezeWindows.length > 0 && (
            <>
              {' '}
              · stands still in <bdi>{rollout.freezeWindows.join(', ')}</bdi>
            </>
          )}
          {completeAt != null && (
            <>
              {' '}
              · every client from <Time at={completeAt} ago /> on
            </>
          )}
        </p>
        <RampPicture rollout={rollout} />
        <Counts rollout={rollout} />
      </section>
      {start.mayChange && rollout.status === 'active' && (
        <RolloutForm app={app} detail={detail} rollout={rollout} reload={reload} />
      )}
      {rollout.status === 'paused' && (
        <Notice tone="info">
          While the release is paused, its plan stands still. To change the rollout,{' '}
          <a href={hrefOf({ screen: 'release', app, version: detail.version })}>resume it</a> first.
        </Notice>
      )}
    </>
  );
}

function Counts({ rollout: { counts } }: { readonly rollout: RolloutDetail }) {
  if (counts === null) {
    return <p class="hint">There are no counts yet. Services store their counts once a minute.</p>;
  }
  const { days, checks, checksOnVersion, offers, links, countedUntil } = counts;
  const numbers = [
    ['Offers', offers],
    ['Download links', links],
    ['Checks by clients that have it', checksOnVersion],
    ['Checks on this channel', checks],
  ] as const;
  return (
    <>
      <Numbers numbers={numbers} />
      <p class="hint">
        Counted in the last {days} days
        {countedUntil !== null && (
          <>
            , until <Time at={countedUntil} ago />
          </>
        )}
        .
      </p>
    </>
  );
}
