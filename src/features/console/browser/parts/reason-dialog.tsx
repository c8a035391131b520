import { useState } from 'preact/hooks';
import type { Change } from '../../change-answers.ts';
import type { ReleaseOnChannel } from '../../release-answers.ts';
import { ChangeDialog, type DialogProps } from './change-dialog.tsx';
import { SelectField, TextField } from './field.tsx';

interface Props extends DialogProps {
  readonly version: string;
  readonly cells: readonly ReleaseOnChannel[];
}

/** States why a release is paused, after the pause. */
export function ReasonDialog({ version, cells, ...shown }: Props) {
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState('');
  const paused = cells.filter(({ status }) => status === 'paused').map(({ channel }) => channel);
  // Without a channel, the change would pause the release on the other channels as well.
  const isElsewhere = cells.some(({ status }) => status === 'active');
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
          options={paused.map((name) => [name, name] as const)}
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
