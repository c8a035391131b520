import { useState } from 'preact/hooks';
import type { Change } from '../../change-answers.ts';
import type { ReleaseDetail, RolloutDetail } from '../../release-answers.ts';
import { useSurroundings } from '../context.ts';
import { Button } from '../parts/button.tsx';
import { Field, TextField } from '../parts/field.tsx';
import { Review } from '../parts/review.tsx';
import { ReasonField } from '../parts/yank-dialog.tsx';
import { useChange } from '../state/change.ts';

interface Props {
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

/** What is left of the plan, to begin now: the whole plan would begin with its smallest share again. */
function remainingPlan({ plan, share, points, isLinear }: RolloutDetail): string {
  const later = points.filter(({ at, share: next }) => Date.parse(at) > Date.now() && next > share);
  if (plan === null || later.length === 0) return '';
  // Plans have whole seconds.
  const steps = later.map((point) => `${point.share / 100}%@${point.at.replace(/\.\d+Z$/, 'Z')}`);
  return `${isLinear ? 'linear ' : ''}${[`${share / 100}%@0h`, ...steps].join(',')}`;
}

export function RolloutForm({ app, detail, rollout, reload }: Props) {
  const { tell } = useSurroundings();
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
      <fieldset class="segments">
        <legend class="visually-hidden">How</legend>
        {ways.map((each) => (
          <button
            key={each}
            type="button"
            aria-pressed={each === way}
            onClick={() => edit(setWay)(each)}
          >
            {NAMES[each]}
          </button>
        ))}
      </fieldset>
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
        onDone={(changed) => {
          tell({
            title: `The rollout of ${version} on ${channel} is changed`,
            sentences: changed.sentences,
            paused: null,
          });
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
