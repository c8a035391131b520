import { useState } from 'preact/hooks';
import type { Overview } from '../../../console/release-answers.ts';
import { apiOf } from '../api.ts';
import type { Outcome } from '../context.ts';
import { usePolled } from '../state/polled.ts';
import { Button } from './button.tsx';
import { Icon } from './icon.tsx';
import { ResumeDialog } from './resume-dialog.tsx';

interface Props {
  readonly outcome: Outcome | null;
  readonly onClose: () => void;
}

/** Says what was done, on every screen, until the operator closes it. */
export function OutcomePanel({ outcome, onClose }: Props) {
  const [resumed, setResumed] = useState<Outcome['resume']>(null);
  return (
    <>
      <div class="outcome-place" role="status">
        {outcome !== null && (
          <section
            class={outcome.isFailure === true ? 'outcome failed' : 'outcome'}
            aria-label={outcome.isFailure === true ? 'What failed' : 'What was done'}
          >
            <Icon name={outcome.isFailure === true ? 'cross' : 'check'} />
            <div>
              <strong>
                <bdi>{outcome.title}</bdi>
              </strong>
              {outcome.sentences.map((sentence) => (
                <p key={sentence}>
                  <bdi>{sentence}</bdi>
                </p>
              ))}
              <div class="actions">
                {outcome.resume !== null && (
                  <Button icon="play" onClick={() => setResumed(outcome.resume)}>
                    Resume…
                  </Button>
                )}
                <Button kind="quiet" onClick={onClose}>
                  Close
                </Button>
              </div>
            </div>
          </section>
        )}
      </div>
      {resumed !== null && <Resumed {...resumed} onClose={() => setResumed(null)} />}
    </>
  );
}

/** The panel stays when the screen changes, so it requests the revision itself. */
function Resumed({
  app,
  version,
  onClose,
}: {
  readonly app: string;
  readonly version: string;
  readonly onClose: () => void;
}) {
  const polled = usePolled<Overview>(apiOf(app, 'overview'));
  if (polled.value === null) return null;
  return (
    <ResumeDialog
      app={app}
      version={version}
      seen={polled.value}
      reload={polled.reload}
      onClose={onClose}
    />
  );
}
