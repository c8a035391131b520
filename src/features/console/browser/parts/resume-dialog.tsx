import type { Change } from '../../change-answers.ts';
import { ChangeDialog, type DialogProps } from './change-dialog.tsx';

interface Props extends DialogProps {
  readonly version: string;
}

/**
 * Offers a paused release again. Clients will get it, so the dialog shows the consequences first.
 */
export function ResumeDialog({ version, ...shown }: Props) {
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
