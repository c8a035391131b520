import { useState } from 'preact/hooks';
import type { Overview } from '../../release-answers.ts';
import { apiOf } from '../api.ts';
import type { Outcome } from '../context.ts';
import { usePolled } from '../state/polled.ts';
import { Button } from './button.tsx';
import { Icon } from './icon.tsx';
import { ReasonDialog } from './reason-dialog.tsx';
import { ResumeDialog } from './resume-dialog.tsx';
import { Sentence } from './sentence.tsx';

interface Props {
  readonly outcome: Outcome | null;
  readonly onClose: () => void;
}

/** Says what was done, on every screen, until the operator closes it. */
export function OutcomePanel({ outcome, onClose }: Props) {
  const [asked, setAsked] = useState<Omit<AskedProps, 'onClose'> | null>(null);
  const paused = outcome?.paused ?? null;
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
                  <Sentence text={sentence} />
                </p>
              ))}
              <div class="actions">
                {paused !== null && (
                  <>
                    <Button onClick={() => setAsked({ ...paused, verb: 'reason' })}>
                      Add the reason…
                    </Button>
                    <Button icon="play" onClick={() => setAsked({ ...paused, verb: 'resume' })}>
                      Resume…
                    </Button>
                  </>
                )}
                <Button kind="quiet" onClick={onClose}>
                  Close
                </Button>
              </div>
            </div>
          </section>
        )}
      </div>
      {asked !== null && <AskedDialog {...asked} onClose={() => setAsked(null)} />}
    </>
  );
}

interface AskedProps {
  readonly app: string;
  readonly version: string;
  readonly verb: 'reason' | 'resume';
  readonly onClose: () => void;
}

/** The panel stays when the screen changes, so it requests the revision itself. */
function AskedDialog({ app, version, verb, onClose }: AskedProps) {
  const { value: seen, reload } = usePolled<Overview>(apiOf(app, 'overview'));
  if (seen === null) return null;
  const shown = { app, version, seen, reload, onClose };
  if (verb === 'resume') return <ResumeDialog {...shown} />;
  const release = seen.releases.find((each) => each.version === version);
  return <ReasonDialog {...shown} cells={release?.cells ?? []} />;
}
