import type { ComponentChildren } from 'preact';
import type { Change } from '../../changes/change-request.ts';
import { useSurroundings } from '../context.ts';
import type { ChangeState } from '../state/change.ts';
import { Button } from './button.tsx';
import { FailureNotice, Notice } from './notice.tsx';
import { PreviewDetails, PreviewSummary } from './preview.tsx';

interface Props {
  readonly state: ChangeState;
  /** Null while the typed change is not complete. */
  readonly change: Change | null;
  readonly confirmLabel: string;
  readonly danger?: boolean;
  /** The title of the message after the change. */
  readonly doneTitle: string;
  readonly onDone: () => void;
  readonly children?: ComponentChildren;
}

/**
 * Shows a preview. When the operator confirms, makes exactly the change of the preview. When the catalog is newer than
 * the preview, the operator needs a new preview.
 */
export function Review(props: Props) {
  const { state, change, confirmLabel, danger = false, doneTitle, onDone, children } = props;
  const { tell } = useSurroundings();
  const { reviewed, meanwhile, failure, isPreviewing, isSending } = state;
  const confirm = async () => {
    if (change === null) return;
    const changed = await state.confirm(change);
    if (changed === null) return;
    tell({ title: doneTitle, sentences: changed.sentences });
    onDone();
  };
  return (
    <div class="review">
      <div aria-live="polite">
        {meanwhile !== null && (
          <Notice tone="warning">
            <strong>
              <bdi>{meanwhile}</bdi>
            </strong>{' '}
            Your change was not made. What you typed is still here. Preview it again, then confirm.
          </Notice>
        )}
        {reviewed !== null && <PreviewSummary preview={reviewed.preview} />}
      </div>
      <FailureNotice
        failure={failure}
        what={
          reviewed === null
            ? 'The change cannot be previewed.'
            : 'The request failed, and the console does not know of any change.'
        }
      />
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
      {reviewed !== null && (
        <PreviewDetails preview={reviewed.preview} reason={change?.reason ?? null} />
      )}
    </div>
  );
}
