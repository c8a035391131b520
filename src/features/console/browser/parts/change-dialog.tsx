import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import type { Seen } from '../../answers.ts';
import type { Change } from '../../change-answers.ts';
import { useSurroundings } from '../context.ts';
import { useChange } from '../state/change.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { Review } from './review.tsx';

/** What every dialog of a change gets from its screen. */
export interface DialogProps {
  readonly app: string;
  /** The state that the screen shows, on which the change is made. */
  readonly seen: Seen;
  readonly reload: () => Promise<void>;
  readonly onClose: () => void;
}

interface Props extends DialogProps {
  readonly title: string;
  readonly change: Change | null;
  readonly confirmLabel: string;
  readonly doneTitle: string;
  readonly danger?: boolean;
  readonly children?: ComponentChildren;
}

/** The wait before a preview: several quick choices cause one request. */
const PAUSE_MS = 150;

/**
 * A change in a dialog. It shows the preview when the change is complete, and again after each
 * edit.
 */
export function ChangeDialog(props: Props) {
  const { change, seen, reload, app, onClose } = props;
  const { tell } = useSurroundings();
  const state = useChange({ app, seen, reload });
  // A reason changes no consequence.
  const asked = change === null ? null : JSON.stringify({ ...change, reason: null });
  useEffect(() => {
    state.forget();
    if (change === null) return undefined;
    const timer = setTimeout(() => void state.preview(change), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [asked]);
  return (
    <Dialog title={props.title} onClose={onClose}>
      {props.children}
      <Review
        state={state}
        change={change}
        confirmLabel={props.confirmLabel}
        danger={props.danger ?? false}
        onDone={(changed) => {
          tell({ title: props.doneTitle, sentences: changed.sentences, paused: null });
          onClose();
          void reload();
        }}
      >
        <Button kind="quiet" onClick={onClose}>
          Cancel
        </Button>
      </Review>
    </Dialog>
  );
}
