import type { ComponentChildren } from 'preact';
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { ReleaseDetail, ReleaseOnChannel, Seen } from '../../answers.ts';
import type { Change } from '../../changes/change-request.ts';
import { useChange } from '../state/change.ts';
import { Button } from './button.tsx';
import { optionsOf, ReasonField, SelectField, TextField } from './field.tsx';
import { Icon } from './icon.tsx';
import { Review } from './review.tsx';
import { isOffered } from './status.tsx';

/** The dialogs for changes: to resume a release, to give the reason of a pause, to yank, and to roll back. */

/** The properties that every dialog of a change has. */
interface DialogProps {
  readonly app: string;
  /** The state that the screen shows. The change applies to this state. */
  readonly seen: Seen;
  readonly reload: () => Promise<void>;
  readonly onClose: () => void;
}

/** Offers a paused release again. Clients will get the release, so the dialog shows the consequences first. */
export function ResumeDialog({ version, ...shown }: DialogProps & { readonly version: string }) {
  const change: Change = { kind: 'resume', version, channel: null, reason: null };
  return (
    <ChangeDialog
      title={`Resume ${version}`}
      {...shown}
      change={change}
      confirmLabel={`Resume ${version}`}
      doneTitle={`${version} is offered again`}
    />
  );
}

interface ReasonProps extends DialogProps {
  readonly version: string;
  readonly cells: readonly ReleaseOnChannel[];
}

/** Lets the operator give the reason of a pause, after the pause. */
export function ReasonDialog({ version, cells, ...shown }: ReasonProps) {
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState('');
  const paused = cells.filter(({ status }) => status === 'paused').map(({ channel }) => channel);
  // Without a channel, the change would pause the release on the other channels as well.
  const isElsewhere = isOffered({ cells });
  const channel = paused.includes(chosen) ? chosen : (paused[0] ?? null);
  const reason = text.trim();
  const change: Change | null =
    reason === '' || paused.length === 0
      ? null
      : { kind: 'pause', version, channel: isElsewhere ? channel : null, reason };
  return (
    <ChangeDialog
      title={`Why ${version} is paused`}
      {...shown}
      change={change}
      confirmLabel="Save the reason"
      doneTitle={`The reason for the pause of ${version} is saved`}
    >
      {paused.length === 0 && <p>The release is not paused any more.</p>}
      {isElsewhere && paused.length > 1 && (
        <SelectField
          label="On"
          value={channel ?? ''}
          onChange={setChosen}
          options={optionsOf(paused)}
        />
      )}
      {paused.length > 0 && (
        <TextField
          label="Reason"
          hint="The history and the list of releases show it."
          placeholder="crashes at start"
          value={text}
          onInput={setText}
        />
      )}
    </ChangeDialog>
  );
}

interface DetailProps extends DialogProps {
  readonly detail: ReleaseDetail;
}

export function YankDialog({ detail, ...shown }: DetailProps) {
  const { version, cells } = detail;
  const [channel, setChannel] = useState('');
  const [reason, setReason] = useState('');
  const listing = cells.filter(({ status }) => status === 'active' || status === 'paused');
  const change: Change = {
    kind: 'yank',
    version,
    channel: channel === '' ? null : channel,
    reason: reason.trim() || null,
  };
  return (
    <ChangeDialog
      title={`Yank ${version}`}
      {...shown}
      change={change}
      confirmLabel={`Yank ${version} permanently`}
      doneTitle={`${version} is yanked`}
      danger
    >
      <p>A yank withdraws the release permanently. It cannot be undone.</p>
      {listing.length > 1 && (
        <SelectField
          label="Where"
          value={channel}
          onChange={setChannel}
          options={[
            ['', 'On every channel'],
            ...listing.map((cell) => [cell.channel, `Only on ${cell.channel}`] as const),
          ]}
        />
      )}
      <ReasonField value={reason} onInput={setReason} />
    </ChangeDialog>
  );
}

export function RollbackDialog({ detail, ...shown }: DetailProps) {
  const targets = detail.rollbackTargets.filter(({ versions }) => versions.length > 0);
  const [channel, setChannel] = useState(targets[0]?.channel ?? '');
  const versions = targets.find((target) => target.channel === channel)?.versions ?? [];
  const [chosen, setChosen] = useState('');
  const [reason, setReason] = useState('');
  const to = versions.includes(chosen) ? chosen : versions[0];
  const change: Change | null =
    to === undefined ? null : { kind: 'rollback', to, channel, reason: reason.trim() || null };
  return (
    <ChangeDialog
      title="Roll back"
      {...shown}
      change={change}
      confirmLabel={`Roll ${channel} back to ${to}`}
      doneTitle={`${channel} is rolled back to ${to}`}
      danger
    >
      <p>
        A rollback yanks every newer release of the channel. It moves no client back unless its
        application allows downgrades, and it cannot be undone.
      </p>
      <div class="fields">
        {targets.length > 1 && (
          <SelectField
            label="Channel"
            value={channel}
            onChange={setChannel}
            options={optionsOf(targets.map((target) => target.channel))}
          />
        )}
        <SelectField
          label="Back to"
          value={to ?? ''}
          onChange={setChosen}
          options={optionsOf(versions)}
        />
      </div>
      <ReasonField value={reason} onInput={setReason} />
    </ChangeDialog>
  );
}

interface ChangeProps extends DialogProps {
  readonly title: string;
  readonly change: Change | null;
  readonly confirmLabel: string;
  readonly doneTitle: string;
  readonly danger?: boolean;
  readonly children?: ComponentChildren;
}

/** The wait before a preview, in milliseconds: several quick choices cause only one request. */
const PAUSE_MS = 150;

/** A dialog for one change. The dialog shows the preview when the change is complete, and again after each edit. */
function ChangeDialog(props: ChangeProps) {
  const { change, seen, reload, app, onClose } = props;
  const state = useChange({ app, seen, reload });
  // An edit of the reason needs no new preview, because a reason changes no consequence.
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
        doneTitle={props.doneTitle}
        onDone={() => {
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

interface ModalProps {
  readonly title: string;
  readonly children: ComponentChildren;
  readonly onClose: () => void;
}

/**
 * A modal dialog. The browser keeps the focus in the dialog, closes the dialog with Escape, and then gives the focus
 * back.
 */
function Dialog({ title, children, onClose }: ModalProps) {
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  // The dialog opens before the next paint, so that it gets a key that the operator presses at once.
  useLayoutEffect(() => {
    const dialog = element.current;
    const before = document.activeElement;
    dialog?.showModal();
    return () => {
      dialog?.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    <dialog ref={element} aria-labelledby={id} onClose={onClose}>
      <header>
        <h2 id={id}>
          <bdi>{title}</bdi>
        </h2>
        <button type="button" class="button quiet icon-only" aria-label="Close" onClick={onClose}>
          <Icon name="cross" />
        </button>
      </header>
      <div class="dialog-body">{children}</div>
    </dialog>
  );
}
