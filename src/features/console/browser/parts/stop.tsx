import { useState } from 'preact/hooks';
import type { Seen } from '../../answers.ts';
import type { OverviewRelease, ReleaseDetail } from '../../release-answers.ts';
import { isOffered, isPaused, offeringChannels } from '../filter.ts';
import { counted, listed } from '../format.ts';
import { hrefOf } from '../router.ts';
import { usePause } from '../state/pause.ts';
import { Notice } from './banner.tsx';
import { Button } from './button.tsx';
import { ReasonDialog } from './reason-dialog.tsx';
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
  const [dialog, setDialog] = useState<'resume' | 'reason' | 'yank' | 'rollback' | null>(null);
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
            kind={detail.isOfferedNow ? 'danger' : 'plain'}
            size="large"
            icon="stop"
            busy={isSending}
            onClick={() => void pause()}
          >
            Pause {version}
          </Button>
          <p class="hint">
            This pauses the release at once on {listed(offeringChannels(detail))}. You can resume
            it.
            {!detail.isOfferedNow && ' Clients are offered newer releases in its place already.'}
          </p>
        </>
      ) : isPaused(detail) ? (
        <p>The release is paused. Clients that have it keep it.</p>
      ) : (
        <NotOffered detail={detail} />
      )}
      <div role="alert">{failure !== null && <Notice tone="critical">{failure}</Notice>}</div>
      <div class="actions">
        {isPaused(detail) && (
          <>
            <Button icon="play" onClick={() => setDialog('resume')}>
              Resume…
            </Button>
            <Button onClick={() => setDialog('reason')}>
              {detail.cells.some(({ reason }) => reason !== null) ? 'Change' : 'Add'} the reason…
            </Button>
          </>
        )}
        {canYank && <Button onClick={() => setDialog('yank')}>Yank…</Button>}
        {canRollBack && <Button onClick={() => setDialog('rollback')}>Roll back…</Button>}
      </div>
      {dialog === 'resume' && <ResumeDialog {...common} version={version} />}
      {dialog === 'reason' && <ReasonDialog {...common} version={version} cells={detail.cells} />}
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
  readonly release: OverviewRelease;
  readonly reload: () => Promise<void>;
}

/**
 * What an operator can do about a release in a row of the overview. One click pauses a release that clients are offered
 * now. The release's own screen has the rest: an old release is hardly the one that must be stopped.
 */
export function RowAction({ app, release, reload }: RowProps) {
  const { version, isOfferedNow } = release;
  if (isOffered(release)) {
    return isOfferedNow ? (
      <StopButton app={app} release={release} reload={reload} />
    ) : (
      <ReleaseLink app={app} version={version} verb="Pause" kind="quiet" />
    );
  }
  return isPaused(release) ? <ReleaseLink app={app} version={version} verb="Resume" /> : null;
}

function StopButton({ app, release, reload }: RowProps) {
  const { version } = release;
  const { isSending, pause } = usePause(app, version, reload, { tellsFailure: true });
  const channels = offeringChannels(release);
  const names = listed(channels);
  return (
    <span class="stop-row">
      <Button
        kind="stop"
        size="small"
        icon="stop"
        busy={isSending}
        label={`Pause ${version} on ${names}`}
        onClick={() => void pause()}
      >
        Pause
      </Button>
      <span class="cell-detail" title={names} aria-hidden="true">
        on {channels.length > 2 ? counted(channels.length, 'channel') : names}
      </span>
    </span>
  );
}

interface LinkProps {
  readonly app: string;
  readonly version: string;
  readonly verb: 'Pause' | 'Resume';
  readonly kind?: 'plain' | 'quiet';
}

/** Leads to the release. */
const ReleaseLink = ({ app, version, verb, kind = 'plain' }: LinkProps) => (
  <a
    class={`button ${kind} small`}
    href={hrefOf({ screen: 'release', app, version })}
    aria-label={`${verb} ${version}`}
  >
    {verb}…
  </a>
);
