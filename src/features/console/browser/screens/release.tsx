import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { size } from '../../../../web/browser/size.ts';
import type { ArtifactDetail, ReleaseDetail, RolloutCounts } from '../../answers.ts';
import { releaseApi } from '../api.ts';
import { useSurroundings } from '../context.ts';
import { count, counted, listed, portion } from '../format.ts';
import { Button } from '../parts/button.tsx';
import {
  ReasonDialog,
  ResumeDialog,
  RollbackDialog,
  YankDialog,
} from '../parts/change-dialogs.tsx';
import { Icon } from '../parts/icon.tsx';
import { FreshnessBanner, Notice } from '../parts/notice.tsx';
import { Loading, Page } from '../parts/page.tsx';
import { isReplaced } from '../parts/replaced.ts';
import { ChannelCell, isOffered, isPaused, offeringChannels } from '../parts/status.tsx';
import { Time } from '../parts/time.tsx';
import { hrefOf } from '../router.ts';
import { usePause } from '../state/change.ts';
import { usePolled } from '../state/polled.ts';
import { NotesCard } from './release-notes.tsx';

interface Props {
  readonly app: string;
  readonly version: string;
}

export function ReleaseScreen({ app, version }: Props) {
  const path = releaseApi(app, version);
  const polled = usePolled<ReleaseDetail>(path);
  const { value, failure, reload } = polled;
  return (
    <Page
      title={version}
      above={
        <>
          <a href={hrefOf({ screen: 'overview', app })}>
            <bdi>{app}</bdi>
          </a>{' '}
          / Release
        </>
      }
      below={
        value === null ? (
          failure === null && <span class="bone short" />
        ) : (
          <>
            {value.name !== null && value.name !== version && (
              <>
                <bdi>{value.name}</bdi> ·{' '}
              </>
            )}
            released <Time at={value.releasedAt} ago />
          </>
        )
      }
    >
      <FreshnessBanner polled={polled} />
      {value === null ? (
        <Loading
          app={app}
          failure={failure}
          reload={reload}
          what={`release ${version}`}
          rows={12}
        />
      ) : (
        <Detail app={app} detail={value} reload={reload} />
      )}
    </Page>
  );
}

interface DetailProps {
  readonly app: string;
  readonly detail: ReleaseDetail;
  readonly reload: () => Promise<void>;
}

function Detail({ app, detail, reload }: DetailProps) {
  const { start } = useSurroundings();
  const missing = detail.cells.filter((cell) => cell.missing.length > 0);
  return (
    <>
      {missing.map((cell) => (
        <Notice key={cell.channel} tone="warning">
          {cell.channel} holds this release back until it has builds for {listed(cell.missing)}.
          Publish them with the same version.
        </Notice>
      ))}
      <div class="columns release">
        {/* This panel is first, so that the keyboard reaches it first: a bad release must be paused quickly. */}
        {start.mayChange && <StopPanel app={app} detail={detail} reload={reload} />}
        <div class="main-column">
          <OfferedCard app={app} detail={detail} />
          <ArtifactList detail={detail} />
          <NotesCard app={app} detail={detail} reload={reload} />
        </div>
        <ReleaseFacts detail={detail} />
      </div>
    </>
  );
}

/**
 * The changes for a bad release. The big button pauses the release without a question, because Resume undoes the pause.
 */
function StopPanel({ app, detail, reload }: DetailProps) {
  const [dialog, setDialog] = useState<'resume' | 'reason' | 'yank' | 'rollback' | null>(null);
  const { version } = detail;
  const { isSending, failure, pause } = usePause(app, version, reload);
  const close = () => setDialog(null);
  const canYank = isOffered(detail) || isPaused(detail);
  const canRollBack = detail.rollbackTargets.some(({ versions }) => versions.length > 0);
  const common = { app, seen: detail, reload, onClose: close };
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
  if (isPaused(detail)) return <p>The release is paused. Clients that have it keep it.</p>;
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

/** Shows which channels offer the release, and to how many clients. */
function OfferedCard({ app, detail }: Omit<DetailProps, 'reload'>) {
  const { start } = useSurroundings();
  const { cells, version, rollouts } = detail;
  const countsOn = (channel: string) =>
    rollouts.find((rollout) => rollout.channel === channel)?.counts ?? null;
  return (
    <section class="card" aria-labelledby="offered-heading">
      <h2 id="offered-heading">Where it is offered</h2>
      {cells.length === 0 && <p>No channel lists this release.</p>}
      <ul class="offered">
        {cells.map((cell) => (
          <li key={cell.channel}>
            <bdi class="channel-name">{cell.channel}</bdi>
            <div>
              <ChannelCell cell={cell} />
              {cell.completeAt !== null && !isReplaced(cell) && (
                <span class="cell-detail">
                  every client from <Time at={cell.completeAt} ago /> on
                </span>
              )}
              <Running counts={countsOn(cell.channel)} channel={cell.channel} />
            </div>
            {rollouts.some(({ channel }) => channel === cell.channel) && (
              <a
                class="button"
                href={hrefOf({ screen: 'rollout', app, version }, { channel: cell.channel })}
              >
                {start.mayChange && cell.status === 'active' ? 'Change rollout' : 'Rollout'}
                <span class="visually-hidden"> on {cell.channel}</span>
              </a>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

interface RunningProps {
  readonly counts: RolloutCounts | null;
  readonly channel: string;
}

/** Shows the share of clients that run the release. It is a share of checks, because services do not count clients. */
function Running({ counts, channel }: RunningProps) {
  if (counts === null || counts.recentChecks === 0) return null;
  const { recentChecks, recentChecksOnVersion: own } = counts;
  return (
    <span class="cell-detail">
      {portion(own / recentChecks)} of the checks on {channel} came from clients that run it (
      {count(own)} of {count(recentChecks)}, yesterday and today)
    </span>
  );
}

function ArtifactList({ detail }: { readonly detail: ReleaseDetail }) {
  const { artifacts, signedDocuments } = detail;
  return (
    <section class="card" aria-labelledby="artifacts-heading">
      <h2 id="artifacts-heading">Artifacts</h2>
      {artifacts.length === 0 && <p>This release has no artifacts yet.</p>}
      <ul class="artifacts">
        {artifacts.map((artifact) => (
          <li key={artifact.filename}>
            <Artifact artifact={artifact} />
          </li>
        ))}
      </ul>
      {signedDocuments.length > 0 && (
        <p class="hint">
          Signed by the publisher:{' '}
          {signedDocuments.map((name) => (
            <bdi key={name}>{name} </bdi>
          ))}
        </p>
      )}
    </section>
  );
}

function Artifact({ artifact }: { readonly artifact: ArtifactDetail }) {
  const { platform, arch, format, filename, signatures, companions, minimumOsVersion } = artifact;
  return (
    <details>
      <summary>
        <span class="target">
          {platform}-{arch}
        </span>
        <span class="tag">{format}</span>
        <bdi class="filename" title={filename}>
          {filename}
        </bdi>
        <span class="numeric">{size(artifact.size)}</span>
      </summary>
      <dl class="facts">
        <Hash name="SHA-256" value={artifact.sha256} />
        <Hash name="SHA-512" value={artifact.sha512} />
        {signatures.map((signature) => (
          <Hash
            key={signature.value}
            name={`${signature.scheme}${signature.keyId === null ? '' : ` ${signature.keyId}`}`}
            value={signature.value}
          />
        ))}
        <Fact name="Signatures">
          {signatures.length === 0 ? 'none' : counted(signatures.length, 'signature')}
        </Fact>
        <Fact name="Needs">
          {minimumOsVersion === null ? 'any system version' : `${platform} ${minimumOsVersion}`}
        </Fact>
        {companions.map((companion) => (
          <Fact key={companion.filename} name={companion.kind}>
            <bdi>{companion.filename}</bdi>, {size(companion.size)}
          </Fact>
        ))}
      </dl>
    </details>
  );
}

const Hash = ({ name, value }: { readonly name: string; readonly value: string }) => (
  <div>
    <dt>
      <bdi>{name}</bdi>
    </dt>
    <dd class="hash">
      <code>{value}</code>
      <CopyButton text={value} what={name} />
    </dd>
  </div>
);

/** Shows other facts that the publisher states about the release. */
function ReleaseFacts({ detail }: { readonly detail: ReleaseDetail }) {
  const { provenance, requires, mandatoryFor, endsNative, manifest } = detail;
  const { commit, buildUrl } = provenance;
  return (
    <section class="card about" aria-labelledby="facts-heading">
      <h2 id="facts-heading">About</h2>
      <dl class="facts">
        <Fact name="Commit">
          {commit === null ? (
            'not stated'
          ) : (
            <span class="hash">
              <code>{commit}</code>
              <CopyButton text={commit} what="commit" />
            </span>
          )}
        </Fact>
        <Fact name="Build">
          {buildUrl === null ? 'not stated' : <BuildLink address={buildUrl} />}
        </Fact>
        <Fact name="Updates from">{requires === null ? 'any version' : <bdi>{requires}</bdi>}</Fact>
        <Fact name="Mandatory for">
          {mandatoryFor === null ? 'no version' : <bdi>{mandatoryFor}</bdi>}
        </Fact>
        {endsNative.length > 0 && (
          <Fact name="Ends native builds for">{endsNative.join(', ')}</Fact>
        )}
        <Fact name="Manifest">{manifest}</Fact>
      </dl>
    </section>
  );
}

/** The publisher states the address, so only a web address becomes a link. */
const BuildLink = ({ address }: { readonly address: string }) =>
  /^https?:\/\//.test(address) ? (
    <a href={address} rel="noreferrer noopener" target="_blank" class="wrap">
      <bdi>{address}</bdi>
    </a>
  ) : (
    <bdi class="wrap">{address}</bdi>
  );

interface FactProps {
  readonly name: string;
  readonly children: ComponentChildren;
}

const Fact = ({ name, children }: FactProps) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);

/** @param what the name of the copied text, for the label of the button: `SHA-256` */
function CopyButton({ text, what }: { readonly text: string; readonly what: string }) {
  const [state, setState] = useState<'' | 'Copied' | 'Not copied'>('');
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setState('Copied');
    } catch {
      setState('Not copied');
    }
    setTimeout(() => setState(''), 2_000);
  };
  return (
    <span class="copy">
      <button
        type="button"
        class="button quiet icon-only"
        aria-label={`Copy ${what}`}
        title={`Copy ${what}`}
        onClick={copy}
      >
        <Icon name={state === 'Copied' ? 'check' : 'copy'} />
      </button>
      <span role="status" class={state === 'Not copied' ? '' : 'visually-hidden'}>
        {state}
      </span>
    </span>
  );
}
