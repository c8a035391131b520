import { useState } from 'preact/hooks';
import type { Change } from '../../change-answers.ts';
import type { ReleaseDetail } from '../../release-answers.ts';
import { ChangeDialog, type DialogProps } from './change-dialog.tsx';
import { SelectField, TextField } from './field.tsx';

interface Props extends DialogProps {
  readonly detail: ReleaseDetail;
}

export function YankDialog({ detail, ...shown }: Props) {
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

interface ReasonProps {
  readonly example?: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
}

export const ReasonField = ({ value, onInput, example = 'crashes at start' }: ReasonProps) => (
  <TextField
    label="Reason"
    hint="Optional. The history shows it."
    placeholder={example}
    value={value}
    onInput={onInput}
  />
);
