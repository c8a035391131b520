import { useState } from 'preact/hooks';
import type { Doctor, DoctorCheck } from '../../answers.ts';
import { failureOf, post } from '../api.ts';
import { counted } from '../format.ts';
import { Button } from '../parts/button.tsx';
import { Icon, type IconName } from '../parts/icon.tsx';
import { FailureNotice } from '../parts/notice.tsx';
import { Page } from '../parts/page.tsx';
import { Elapsed } from '../parts/time.tsx';
import { useTask } from '../state/task.ts';

const OUTCOMES: Readonly<Record<DoctorCheck['outcome'], readonly [IconName, string, string]>> = {
  ok: ['check', 'ok', 'good'],
  warning: ['warning', 'warning', 'warning'],
  failed: ['cross', 'failed', 'critical'],
  skipped: ['skip', 'skipped', 'muted'],
};

/**
 * Checks the store only when the operator asks for it, because the checks take half a minute and send many requests.
 */
export function DoctorScreen() {
  const [doctor, setDoctor] = useState<Doctor | null>(null);
  const { isBusy, error, start } = useTask(async () => {
    setDoctor(await post<Doctor>('/console/api/doctor', {}));
  });
  return (
    <Page title="Doctor" above="Store" below="Whether the store does what Slipway needs">
      <div class="actions">
        <Button kind="primary" busy={isBusy} onClick={() => void start()}>
          {doctor === null ? 'Run the checks' : 'Run again'}
        </Button>
        <span role="status">{isBusy && <Progress />}</span>
      </div>
      <FailureNotice
        failure={error === null ? null : failureOf(error)}
        what="The checks could not be run."
      />
      {doctor === null ? (
        <div class="empty">
          <h2>Not checked yet</h2>
          <p>
            The checks write small objects to the store and remove them. They take up to half a
            minute.
          </p>
          <pre class="command">slipway doctor</pre>
        </div>
      ) : (
        <Findings doctor={doctor} />
      )}
    </Page>
  );
}

function Progress() {
  const [startedAt] = useState(Date.now);
  return (
    <span class="progress-line">
      <progress aria-label="Checking the store" />
      Checking the store
      <Elapsed since={startedAt} />
    </span>
  );
}

function Findings({ doctor }: { readonly doctor: Doctor }) {
  const bad = doctor.checks.filter(({ outcome }) => outcome === 'failed').length;
  const doubtful = doctor.checks.filter(({ outcome }) => outcome === 'warning').length;
  return (
    <section class="card" aria-labelledby="findings-heading">
      <h2 id="findings-heading">
        <bdi>{doctor.store}</bdi>:{' '}
        {bad === 0 ? 'no check failed' : `${counted(bad, 'check')} failed`}
        {doubtful > 0 && `, ${counted(doubtful, 'warning')}`}
      </h2>
      <ul class="findings">
        {doctor.checks.map(({ name, outcome, sentence, remedy }) => {
          const [icon, word, tone] = OUTCOMES[outcome];
          return (
            <li key={name}>
              <span class={`status ${tone}`}>
                <Icon name={icon} />
                {word}
              </span>
              <div>
                <strong>{name}</strong>
                <p>
                  <bdi>{sentence}</bdi>
                </p>
                {remedy !== null && (
                  <p class="remedy">
                    <bdi>{remedy}</bdi>
                  </p>
                )}
              </div>
            </li>
          );
        })}
      </ul>
    </section>
  );
}
