import type { ReleaseDetail } from '../../release-answers.ts';
import { releaseApi } from '../api.ts';
import { useSurroundings } from '../context.ts';
import { listed } from '../format.ts';
import { FreshnessBanner, Notice } from '../parts/banner.tsx';
import { Loading, Page } from '../parts/page.tsx';
import { StopPanel } from '../parts/stop.tsx';
import { Time } from '../parts/time.tsx';
import { hrefOf } from '../router.ts';
import { usePolled } from '../state/polled.ts';
import { ArtifactList } from './release-artifacts.tsx';
import { ReleaseFacts } from './release-facts.tsx';
import { NotesCard } from './release-notes.tsx';
import { OfferedCard } from './release-offered.tsx';

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
          <span class="bone short" />
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
        <Loading failure={failure} reload={reload} what={`release ${version}`} rows={12} />
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
        {/* First, so that the keyboard reaches it first: a bad release must be paused quickly. */}
        {start.mayChange && <StopPanel app={app} detail={detail} seen={detail} reload={reload} />}
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
