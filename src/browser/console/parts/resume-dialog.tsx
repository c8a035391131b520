import type { Change, Seen } from '../../../console/answers.ts';
import { ChangeDialog } from './change-dialog.tsx';

interface Props {
  readonly app: string;
  readonly version: string;
  readonly seen: Seen;
  readonly reload: () => Promise<void>;
  readonly onClose: () => void;
}

/**
 * Offers a paused release again. Clients will get it, so the dialog shows the consequences first.
 */
export function ResumeDialog({ app, version, seen, reload, onClose }: Props) {
  const change: Change = { kind: 'resume', version, channel: null, reason: null };
  return (
    <ChangeDialog
      title={`Resume ${version}`}
      app={app}
      seen={seen}
      reload={reload}
      change={change}
      confirmLabel={`Resume ${version}`}
      doneTitle={`${version} is offered again`}
      onClose={onClose}
    />
  );
}
