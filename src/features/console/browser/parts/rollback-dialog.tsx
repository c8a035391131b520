import { useState } from 'preact/hooks';
import type { Change } from '../../change-answers.ts';
import type { ReleaseDetail } from '../../release-answers.ts';
import { ChangeDialog, type DialogProps } from './change-dialog.tsx';
import { SelectField } from './field.tsx';
import { ReasonField } from './yank-dialog.tsx';

interface Props extends DialogProps {
  readonly detail: ReleaseDetail;
}

export function RollbackDialog({ detail, ...shown }: Props) {
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
            options={targets.map((target) => [target.channel, target.channel] as const)}
          />
        )}
        <SelectField
          label="Back to"
          value={to ?? ''}
          onChange={setChosen}
          options={versions.map((version) => [version, version] as const)}
        />
      </div>
      <ReasonField value={reason} onInput={setReason} />
    </ChangeDialog>
  );
}
