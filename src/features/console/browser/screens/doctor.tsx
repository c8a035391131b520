import { useState } from 'preact/hooks';
import type { Doctor, DoctorCheck } from '../../answers.ts';
import { Failure, post } from '../api.ts';
import { counted, span } from '../format.ts';
import { Button } from '../parts/button.tsx';
import { Icon, type IconName } from '../parts/icon.tsx';
import { FailureNotice, Page } from '../parts/page.tsx';
import { useNow } from '../state/now.ts';

const OUTCOMES: Readonly<Record<DoctorCheck['outcome'], readonly [IconName, string, string]>> = {
  ok: ['check', 'ok', 'good'],
  warning: ['warning', 'warning', 'warning'],
  failed: ['cross', 'failed', 'critical'],
  skipped: ['skip', 'skipped', 'muted'],
};

/** Checks the store only on demand: the checks take half a minute and send many requests. */
export function DoctorScreen() {
  const [doctor, setDoctor] = useState<Doctor | null>(null);
  const [failure, setFailure] = useState<Failure | null>(null);
  const [startedAt, setStartedAt] = useState<number | null>(null);
  const run = async () => {
    setStartedAt(Date.now());
    setFailure(null);
    try {
      setDoctor(await post<Doctor>('/console/api/doctor', {}));
    } catch (error) {
      setFailure(error instanceof Failure ? error : new Failure(0, 'unknown', String(error)));
    } finally {
      setStartedAt(null);
    }
  };
  return (
    <Page title="Doctor" above="Store" below="Whether the store does what Slipway needs">
      <div class="actions">
        <Button kind="primary" busy={startedAt !== null} onClick={() => void run()}>
          {doctor === null ? 'Run the checks' : 'Run again'}
        </Button>
        <span role="status">{startedAt !== null && <Progress since={startedAt} />}</span>
      </div>
      <FailureNotice failure={failure} what="The checks could not be run." />
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

function Progress({ since }: { readonly since: number }) {
  const now = useNow();
  return (
    <span class="progress-line">
      <progress aria-label="Checking the store" />
      Checking the store
      <span aria-hidden="true">, {span(Math.max(0, Math.round((now - since) / 1000)))}</span>
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
