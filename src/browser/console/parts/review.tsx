import type { ComponentChildren } from 'preact';
import type { Change, Changed } from '../../../console/answers.ts';
import type { ChangeState } from '../state/change.ts';
import { Notice } from './banner.tsx';
import { Button } from './button.tsx';
import { FailureNotice } from './page.tsx';
import { PreviewView } from './preview.tsx';

interface Props {
  readonly state: ChangeState;
  /** Null: what is typed is not complete. */
  readonly change: Change | null;
  readonly confirmLabel: string;
  readonly danger?: boolean;
  readonly onDone: (changed: Changed) => void;
  readonly children?: ComponentChildren;
}

/** Preview, then confirm. What was looked at is what is confirmed: a newer catalog asks to look again. */
export function Review({ state, change, confirmLabel, danger = false, onDone, children }: Props) {
  const { reviewed, meanwhile, failure, isPreviewing, isSending } = state;
  const confirm = async () => {
    if (change === null) return;
    const changed = await state.confirm(change);
    if (changed !== null) onDone(changed);
  };
  return (
    <div class="review">
      <div aria-live="polite">
        {meanwhile !== null && (
          <Notice tone="warning">
            <strong>
              <bdi>{meanwhile}</bdi>
            </strong>{' '}
            Nothing was changed by you. What you typed is still here. Look at the consequences
            again, then confirm.
          </Notice>
        )}
        {reviewed !== null && <PreviewView preview={reviewed.preview} />}
      </div>
      <FailureNotice failure={failure} what="Nothing is known to have changed." />
      <div class="actions">
        {reviewed === null ? (
          <Button
            kind="primary"
            busy={isPreviewing}
            disabled={change === null}
            onClick={() => change !== null && void state.preview(change)}
          >
            {meanwhile === null ? 'Preview' : 'Preview again'}
          </Button>
        ) : (
          <Button
            kind={danger ? 'danger' : 'primary'}
            busy={isSending}
            disabled={!reviewed.preview.changes}
            onClick={() => void confirm()}
          >
            {confirmLabel}
          </Button>
        )}
        {children}
      </div>
    </div>
  );
}
