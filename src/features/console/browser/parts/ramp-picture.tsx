import type { RolloutDetail } from '../../release-answers.ts';
import { dateAndTime, listed, percent } from '../format.ts';
import { useNow } from '../state/now.ts';
import { cornersOf, plateausOf, shareAt, spanOf } from './ramp.ts';
import { Time } from './time.tsx';

const WIDTH = 720;
const HEIGHT = 180;
const MINUTE_MS = 60_000;

/** The shares of a rollout over time, with the present time. */
export function RampPicture({ rollout }: { readonly rollout: RolloutDetail }) {
  // Once a minute is enough: smaller steps are not visible.
  const time = useNow(MINUTE_MS);
  const [first] = rollout.points;
  if (first === undefined) return null;
  // A plan that was just started may begin after the last tick of this page's clock.
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
          aria-label={describe(rollout)}
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
        <span>{dateAndTime(span.from)}</span>
        <span>{dateAndTime(span.to)}</span>
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

function describe({ status, points, share, isFrozen, freezeWindows }: RolloutDetail): string {
  const steps = points.map(
    (point) => `${percent(point.share)} from ${dateAndTime(Date.parse(point.at))}`,
  );
  const frozen = isFrozen ? ' It is frozen.' : '';
  const windows = freezeWindows.length === 0 ? '' : ` It stands still in ${listed(freezeWindows)}.`;
  const state = status === 'paused' ? 'is paused at' : 'is at';
  return `The rollout ${state} ${percent(share)} now: ${steps.join(', ')}.${frozen}${windows}`;
}
