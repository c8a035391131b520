import { useMemo, useState } from 'preact/hooks';
import type { Overview } from '../../release-answers.ts';
import { apiOf } from '../api.ts';
import { filterReleases, isFiltered, parseFilter } from '../filter.ts';
import { count, counted, dateAndTime } from '../format.ts';
import { FreshnessBanner } from '../parts/banner.tsx';
import { Button } from '../parts/button.tsx';
import { Loading, Page } from '../parts/page.tsx';
import { Time } from '../parts/time.tsx';
import { replaceQuery } from '../router.ts';
import { PHONE, useMedia } from '../state/media.ts';
import { usePolled } from '../state/polled.ts';
import { AttentionList } from './overview-attention.tsx';
import { OverviewCards } from './overview-cards.tsx';
import { OverviewFilter } from './overview-filter.tsx';
import { OverviewMatrix } from './overview-matrix.tsx';

interface Props {
  readonly app: string;
  readonly query: URLSearchParams;
}

export function OverviewScreen({ app, query }: Props) {
  const polled = usePolled<Overview>(apiOf(app, 'overview'));
  const { value, failure, reload, answeredAt } = polled;
  const displayName = value?.displayName ?? null;
  const storeReadAt = failure === null && value?.problem === null ? answeredAt : null;
  return (
    <Page
      title={displayName ?? app}
      above={
        <span class="above-row">
          <span>Application{displayName !== null && <bdi> {app}</bdi>}</span>
          {storeReadAt !== null && <span>Store OK, read on {dateAndTime(storeReadAt)}</span>}
        </span>
      }
      below={
        value === null ? (
          <span class="bone short" />
        ) : (
          <>
            Revision {value.revision}, <Time at={value.revisionAt} ago /> by{' '}
            <bdi>{value.revisionBy}</bdi>
          </>
        )
      }
    >
      <FreshnessBanner polled={polled} />
      {value === null ? (
        <Loading failure={failure} reload={reload} what="the releases" rows={14} />
      ) : (
        <Releases overview={value} query={query} reload={reload} />
      )}
    </Page>
  );
}

/** The list shows so many rows at first. The search goes through all of them. */
const ROWS = 50;

interface ReleasesProps {
  readonly overview: Overview;
  readonly query: URLSearchParams;
  readonly reload: () => Promise<void>;
}

function Releases({ overview, query, reload }: ReleasesProps) {
  const filter = parseFilter(query);
  const isPhone = useMedia(PHONE);
  const [rows, setRows] = useState(ROWS);
  const { releases } = overview;
  const found = useMemo(() => filterReleases(releases, filter), [releases, query.toString()]);
  if (releases.length === 0) return <NoRelease app={overview.application} />;
  const shown = found.slice(0, rows);
  const List = isPhone ? OverviewCards : OverviewMatrix;
  return (
    <>
      <AttentionList app={overview.application} attention={overview.attention} />
      <OverviewFilter overview={overview} filter={filter} found={found.length} />
      {found.length === 0 ? (
        <div class="empty">
          <h2>No release matches</h2>
          <p>The filter matches none of {counted(releases.length, 'release')}.</p>
          {isFiltered(filter) && <Button onClick={() => replaceQuery({})}>Show all</Button>}
        </div>
      ) : (
        <List overview={overview} releases={shown} reload={reload} />
      )}
      {found.length > shown.length && (
        <div class="more">
          <Button onClick={() => setRows(rows + ROWS)}>Show {ROWS} more</Button>
          <Button kind="quiet" onClick={() => setRows(Number.POSITIVE_INFINITY)}>
            Show all {count(found.length)}
          </Button>
        </div>
      )}
    </>
  );
}

const NoRelease = ({ app }: { readonly app: string }) => (
  <div class="empty">
    <h2>No release yet</h2>
    <p>Publish the first one from the folder that your build tool writes:</p>
    <pre class="command">slipway publish 1.0.0 dist --app {app}</pre>
  </div>
);
