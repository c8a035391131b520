import { useState } from 'preact/hooks';
import type { ReleaseDetail, RolloutDetail } from '../../answers.ts';
import type { Change } from '../../changes/change-request.ts';
import { releaseApi } from '../api.ts';
import { useSurroundings } from '../context.ts';
import { dateAndTime, listed, percent, shortDate } from '../format.ts';
import { Button } from '../parts/button.tsx';
import { Field, ReasonField, Segments, TextField } from '../parts/field.tsx';
import { FreshnessBanner, Notice } from '../parts/notice.tsx';
import { Loading, Page } from '../parts/page.tsx';
import { Review } from '../parts/review.tsx';
import { ShareBar, Status } from '../parts/status.tsx';
import { Numbers, Table } from '../parts/table.tsx';
import { Time, useNow } from '../parts/time.tsx';
import { hrefOf } from '../router.ts';
import { useChange } from '../state/change.ts';
import { usePolled } from '../state/polled.ts';
import { cornersOf, plateausOf, presentStage, shareAt, spanOf } from './rollout-ramp.ts';

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
  const shown = wanted === null ? rollouts[0] : rollouts.find(({ channel }) => channel === wanted);
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
        <Loading app={app} failure={failure} reload={reload} what="the rollout" rows={10} />
      ) : rollouts.length > 0 && shown === undefined ? (
        <NoSuchChannel app={app} version={version} rollouts={rollouts} wanted={wanted ?? ''} />
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

interface NoChannelProps extends Omit<TabsProps, 'shown'> {
  readonly wanted: string;
}

/** The screen of a rollout on a channel that does not list the release. */
const NoSuchChannel = ({ app, version, rollouts, wanted }: NoChannelProps) => (
  <div class="empty">
    <h2>Not found</h2>
    <p>
      The channel <bdi>{wanted}</bdi> does not list <bdi>{version}</bdi>.
    </p>
    <div class="actions">
      {rollouts.map(({ channel }) => (
        <a
          key={channel}
          class="button"
          href={hrefOf({ screen: 'rollout', app, version }, { channel })}
        >
          <span>
            Rollout on <bdi>{channel}</bdi>
          </span>
        </a>
      ))}
    </div>
  </div>
);

interface RolloutProps {
  readonly app: string;
  readonly detail: ReleaseDetail;
  readonly rollout: RolloutDetail;
  readonly reload: () => Promise<void>;
}

function Rollout({ app, detail, rollout, reload }: RolloutProps) {
  const { start } = useSurroundings();
  const cell = detail.cells.find(({ channel }) => channel === rollout.channel);
  const completeAt = cell?.completeAt;
  const replacement = cell?.replacement ?? null;
  const replacedBy = replacement?.isComplete ? replacement.version : null;
  return (
    <>
      <section class="card" aria-labelledby="ramp-heading">
        <div class="card-head">
          <h2 id="ramp-heading">
            On <bdi>{rollout.channel}</bdi>
          </h2>
          <span class="cell-line">
            <Status cell={{ ...rollout, replacement }} />
            <ShareBar cell={{ ...rollout, replacement }} />
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
          {completeAt != null && replacedBy === null && (
            <>
              {' '}
              · every client from <Time at={completeAt} ago /> on
            </>
          )}
        </p>
        {replacedBy !== null && (
          <Notice tone="info">
            Clients of <bdi>{rollout.channel}</bdi> are offered{' '}
            <a href={hrefOf({ screen: 'release', app, version: replacedBy })}>{replacedBy}</a> in
            place of this release, so its rollout reaches no client.
          </Notice>
        )}
        <RampPicture rollout={rollout} />
        <Stages rollout={rollout} />
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
  const { days, checks, checksOnVersion, offers, links, downloads, mostlyWhole, countedUntil } =
    counts;
  const numbers: readonly (readonly [string, number])[] = [
    ['Offers', offers],
    ['Download links', links],
    ...(downloads === null ? [] : downloadNumbers(downloads)),
    ['Checks by clients that have it', checksOnVersion],
    ['Checks on this channel', checks],
  ];
  return (
    <>
      <Numbers numbers={numbers} />
      {mostlyWhole.length > 0 && (
        <Notice tone="warning">
          On {mostlyWhole.join(', ')}, clients mostly downloaded whole files, although the release
          has block maps or deltas. <code>slipway stats</code> says what to check.
        </Notice>
      )}
      {downloads !== null && downloads.notKnown > 0 && (
        <p class="hint">
          Clients at one network address may send no installation id. The service then may not know
          the number and the kind of their downloads.
        </p>
      )}
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

type Downloads = NonNullable<NonNullable<RolloutDetail['counts']>['downloads']>;

function downloadNumbers({ differential, whole, resumed, notKnown }: Downloads) {
  const known = [
    ['Differential downloads', differential],
    ['Whole downloads', whole],
    ['Resumed downloads', resumed],
  ] as const;
  return notKnown === 0 ? known : ([...known, ['Downloads not known', notKnown]] as const);
}

const WIDTH = 720;
const HEIGHT = 180;
const MINUTE_MS = 60_000;

/** The shares of a rollout over time, with the present time. */
function RampPicture({ rollout }: { readonly rollout: RolloutDetail }) {
  // The picture changes once a minute, because smaller steps are not visible.
  const time = useNow(MINUTE_MS);
  const [first] = rollout.points;
  if (first === undefined) return null;
  // When a plan was just started, its first point may be later than the last tick of this page's clock.
  const now = Math.max(time, Date.parse(first.at));
  const span = spanOf(rollout, now);
  const corners = cornersOf(rollout, span).map(([x, y]) => [x * WIDTH, (1 - y) * HEIGHT] as const);
  const line = corners.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(' ');
  const left = corners[0]?.[0] ?? 0;
  const nowX = ((now - span.from) / (span.to - span.from)) * WIDTH;
  const share = rollout.isFrozen ? rollout.share : shareAt(rollout, now);
  return (
    <figure class="ramp">
      <div class="ramp-area">
        <div class="ramp-scale" aria-hidden="true">
          <span>100 %</span>
          <span>50 %</span>
          <span>0 %</span>
        </div>
        <svg
          viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={describeRamp(rollout)}
        >
          {plateausOf(rollout, span).map(([from, to]) => (
            <rect
              key={from}
              class="plateau"
              x={from * WIDTH}
              width={(to - from) * WIDTH}
              y={0}
              height={HEIGHT}
            />
          ))}
          {[0, 0.5, 1].map((y) => (
            <line key={y} class="grid" x1={0} x2={WIDTH} y1={y * HEIGHT} y2={y * HEIGHT} />
          ))}
          <polygon class="area" points={`${left},${HEIGHT} ${line} ${WIDTH},${HEIGHT}`} />
          <polyline class="line" points={line} />
          <line class="now" x1={nowX} x2={nowX} y1={0} y2={HEIGHT} />
        </svg>
        <span
          class={`now-label ${nowX > WIDTH / 2 ? 'left' : ''}`}
          style={{ insetInlineStart: `${(nowX / WIDTH) * 100}%` }}
          aria-hidden="true"
        >
          {rollout.status === 'paused' ? 'paused at' : 'now'} {percent(Math.round(share))}
        </span>
      </div>
      <figcaption class="ramp-times">
        <span>{shortDate(span.from)}</span>
        <span>{shortDate(span.to)}</span>
      </figcaption>
      {rollout.interruptedAt !== null && (
        <p class="hint">
          The plan was last stopped or started on <Time at={rollout.interruptedAt} />. The steps
          before are drawn without the time in which it stood still.
        </p>
      )}
    </figure>
  );
}

/** The stages of a plan, each with its time. */
function Stages({ rollout }: { readonly rollout: RolloutDetail }) {
  const present = presentStage(rollout, useNow(MINUTE_MS));
  const { stages, isLinear } = rollout;
  if (stages.length < 2) return null;
  return (
    <div class="stages">
      <Table
        caption="Stages of the plan"
        heads={['Share', isLinear ? 'Reached' : 'From']}
        numeric={[0]}
        showCaption
      >
        {stages.map(({ share, at }, index) => (
          <tr key={share} aria-current={index === present ? 'step' : undefined}>
            <th scope="row" class="numeric">
              {percent(share)}
            </th>
            <td>
              {at === null ? 'after the plan goes on' : <Time at={at} ago />}
              {index === present && <span class="tag">now</span>}
            </td>
          </tr>
        ))}
      </Table>
    </div>
  );
}

function describeRamp({ status, points, share, isFrozen, freezeWindows }: RolloutDetail): string {
  const steps = points.map(
    (point) => `${percent(point.share)} from ${dateAndTime(Date.parse(point.at))}`,
  );
  const frozen = isFrozen ? ' It is frozen.' : '';
  const windows = freezeWindows.length === 0 ? '' : ` It stands still in ${listed(freezeWindows)}.`;
  const state = status === 'paused' ? 'is paused at' : 'is at';
  return `The rollout ${state} ${percent(share)} now: ${steps.join(', ')}.${frozen}${windows}`;
}

interface FormProps {
  readonly app: string;
  readonly detail: ReleaseDetail;
  readonly rollout: RolloutDetail;
  readonly reload: () => Promise<void>;
}

type Way = 'share' | 'plan' | 'freeze' | 'unfreeze' | 'complete';
const NAMES: Readonly<Record<Way, string>> = {
  share: 'Percentage',
  plan: 'Plan',
  freeze: 'Freeze',
  unfreeze: 'Unfreeze',
  complete: 'Complete',
};
const MEANINGS: Readonly<Partial<Record<Way, string>>> = {
  freeze: 'The share stays where it is. Clients within it are still offered the release.',
  unfreeze: 'The plan goes on from where it was frozen.',
  complete: 'Every client is offered the release.',
};

/**
 * A plan that begins now with the present share and continues with the later steps. The whole plan would begin with its
 * smallest share again.
 */
function remainingPlan({ plan, share, points, isLinear }: RolloutDetail): string {
  const later = points.filter(({ at, share: next }) => Date.parse(at) > Date.now() && next > share);
  if (plan === null || later.length === 0) return '';
  // The times of a plan have whole seconds.
  const steps = later.map((point) => `${point.share / 100}%@${point.at.replace(/\.\d+Z$/, 'Z')}`);
  return `${isLinear ? 'linear ' : ''}${[`${share / 100}%@0h`, ...steps].join(',')}`;
}

function RolloutForm({ app, detail, rollout, reload }: FormProps) {
  const { channel } = rollout;
  const { version } = detail;
  const state = useChange({ app, seen: detail, reload });
  const [way, setWay] = useState<Way>('share');
  const [share, setShare] = useState(rollout.share / 100);
  const [plan, setPlan] = useState(remainingPlan(rollout));
  const [windows, setWindows] = useState(rollout.freezeWindows.join('\n'));
  const [reason, setReason] = useState('');
  const edit =
    <T,>(set: (value: T) => void) =>
    (value: T) => {
      set(value);
      state.forget();
    };
  const words = { share: `${share}%`, plan: plan.trim() };
  const text = way === 'share' || way === 'plan' ? words[way] : way;
  const freezeWindows = way === 'plan' ? windows.split('\n').map((line) => line.trim()) : [];
  const change: Change = {
    kind: 'rollout',
    version,
    channel,
    plan: text,
    freezeWindows: freezeWindows.filter(Boolean),
    reason: reason.trim() || null,
  };
  const ways = (Object.keys(NAMES) as Way[]).filter(
    (each) => each !== (rollout.isFrozen ? 'freeze' : 'unfreeze'),
  );
  return (
    <section class="card" aria-labelledby="change-heading">
      <h2 id="change-heading">Change the rollout</h2>
      <Segments
        legend="How"
        options={ways.map((each) => [each, NAMES[each]])}
        chosen={way}
        onChoose={edit(setWay)}
      />
      {way === 'share' && <ShareField share={share} onInput={edit(setShare)} />}
      {way === 'plan' && (
        <PlanFields
          plan={plan}
          windows={windows}
          onPlan={edit(setPlan)}
          onWindows={edit(setWindows)}
        />
      )}
      {MEANINGS[way] !== undefined && <p>{MEANINGS[way]}</p>}
      <ReasonField example="no crash reports so far" value={reason} onInput={setReason} />
      <Review
        state={state}
        change={text === '' ? null : change}
        confirmLabel={`Change ${channel} to ${text}`}
        doneTitle={`The rollout of ${version} on ${channel} is changed`}
        onDone={() => {
          state.forget();
          void reload();
        }}
      >
        {state.reviewed !== null && (
          <Button kind="quiet" onClick={state.forget}>
            Edit
          </Button>
        )}
      </Review>
    </section>
  );
}

interface ShareProps {
  /** In percent. */
  readonly share: number;
  readonly onInput: (share: number) => void;
}

const ShareField = ({ share, onInput }: ShareProps) => (
  <Field
    label="Share of installations"
    hint="The share stays until you change it. It replaces a running plan."
  >
    {({ id, hint }) => (
      <div class="slider">
        <input
          id={id}
          type="range"
          min={0}
          max={100}
          step={1}
          value={share}
          aria-describedby={hint}
          aria-valuetext={`${share} percent`}
          onInput={(event) => onInput(event.currentTarget.valueAsNumber)}
        />
        <input
          type="number"
          min={0}
          max={100}
          step={0.01}
          value={share}
          aria-label="Share in percent"
          onInput={(event) => {
            const { valueAsNumber: value } = event.currentTarget;
            if (value >= 0 && value <= 100) onInput(value);
          }}
        />
        <span aria-hidden="true">%</span>
      </div>
    )}
  </Field>
);

interface PlanProps {
  readonly plan: string;
  readonly windows: string;
  readonly onPlan: (plan: string) => void;
  readonly onWindows: (windows: string) => void;
}

const PlanFields = ({ plan, windows, onPlan, onWindows }: PlanProps) => (
  <>
    <TextField
      label="Plan"
      mono
      placeholder="5%@0h,25%@1d,100%@3d"
      hint={
        <>
          Each step is a percentage, <code>@</code>, and the time after the start at which it
          begins. Write <code>linear</code> before the first step to let the share grow evenly.
        </>
      }
      value={plan}
      onInput={onPlan}
    />
    <Field
      label="Freeze windows"
      hint="Write one window on each line. Each week, the plan stands still in it."
    >
      {({ id, hint }) => (
        <textarea
          id={id}
          rows={2}
          class="mono"
          placeholder="Fri 16:00..Mon 08:00 Europe/Berlin"
          aria-describedby={hint}
          value={windows}
          onInput={(event) => onWindows(event.currentTarget.value)}
        />
      )}
    </Field>
  </>
);
