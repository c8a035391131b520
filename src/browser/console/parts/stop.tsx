import { useState } from 'preact/hooks';
import type { Seen } from '../../../console/answers.ts';
import type { ReleaseDetail } from '../../../console/release-answers.ts';
import { isOffered, isPaused } from '../filter.ts';
import { hrefOf } from '../router.ts';
import { usePause } from '../state/pause.ts';
import { Notice } from './banner.tsx';
import { Button } from './button.tsx';
import { ResumeDialog } from './resume-dialog.tsx';
import { RollbackDialog } from './rollback-dialog.tsx';
import { YankDialog } from './yank-dialog.tsx';

interface Props {
  readonly app: string;
  readonly detail: ReleaseDetail;
  readonly seen: Seen;
  readonly reload: () => Promise<void>;
}

/** The changes for a bad release. The big button pauses at once, because Resume undoes it. */
export function StopPanel({ app, detail, seen, reload }: Props) {
  const [dialog, setDialog] = useState<'resume' | 'yank' | 'rollback' | null>(null);
  const { version } = detail;
  const { isSending, failure, pause } = usePause(app, version, reload);
  const close = () => setDialog(null);
  const canYank = isOffered(detail) || isPaused(detail);
  const canRollBack = detail.rollbackTargets.some(({ versions }) => versions.length > 0);
  const common = { app, seen, reload, onClose: close };
  return (
    <section class="card stop-panel" aria-labelledby="stop-heading">
      <h2 id="stop-heading">If this release is bad</h2>
      {isOffered(detail) ? (
        <>
          <Button
            kind="danger"
            size="large"
            icon="stop"
            busy={isSending}
            onClick={() => void pause()}
          >
            Pause {version}
          </Button>
          <p class="hint">This pauses the release at once on every channel. You can resume it.</p>
        </>
      ) : isPaused(detail) ? (
        <p>The release is paused. Clients that have it keep it.</p>
      ) : (
        <NotOffered detail={detail} />
      )}
      <div role="alert">{failure !== null && <Notice tone="critical">{failure}</Notice>}</div>
      <div class="actions">
        {isPaused(detail) && (
          <Button icon="play" onClick={() => setDialog('resume')}>
            Resume…
          </Button>
        )}
        {canYank && <Button onClick={() => setDialog('yank')}>Yank…</Button>}
        {canRollBack && <Button onClick={() => setDialog('rollback')}>Roll back…</Button>}
      </div>
      {dialog === 'resume' && <ResumeDialog {...common} version={version} />}
      {dialog === 'yank' && <YankDialog {...common} detail={detail} />}
      {dialog === 'rollback' && <RollbackDialog {...common} detail={detail} />}
    </section>
  );
}

function NotOffered({ detail }: { readonly detail: ReleaseDetail }) {
  if (!detail.cells.some(({ status }) => status === 'draft')) {
    return <p>No client is offered this release.</p>;
  }
  return (
    <>
      <p>
        The release is held back, and no client sees it. It is offered when its last missing build
        is published. This command discards it:
      </p>
      <pre class="command">slipway retire {detail.version}</pre>
    </>
  );
}

interface RowProps {
  readonly app: string;
  readonly version: string;
  readonly reload: () => Promise<void>;
}

/** Pauses a release with one click in a row of the overview. */
export function StopButton({ app, version, reload }: RowProps) {
  const { isSending, pause } = usePause(app, version, reload, { tellsFailure: true });
  return (
    <Button
      kind="stop"
      size="small"
      icon="stop"
      busy={isSending}
      label={`Pause ${version}`}
      onClick={() => void pause()}
    >
      Pause
    </Button>
  );
}

/** Leads to the release, where a paused one can be resumed. */
export function ResumeLink({ app, version }: Omit<RowProps, 'reload'>) {
  return (
    <a
      class="button plain small"
      href={hrefOf({ screen: 'release', app, version })}
      aria-label={`Resume ${version}`}
    >
      Resume…
    </a>
  );
}
