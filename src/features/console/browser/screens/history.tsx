import type { HistoryEntry } from '../../answers.ts';
import { counted } from '../format.ts';
import { Notice } from '../parts/banner.tsx';
import { Button } from '../parts/button.tsx';
import { FailureNotice, Loading, Page } from '../parts/page.tsx';
import { Time } from '../parts/time.tsx';
import { replaceQuery } from '../router.ts';
import { usePages } from '../state/pages.ts';
import { HistoryItem } from './history-item.tsx';

interface Props {
  readonly app: string;
  readonly query: URLSearchParams;
}

const kindName = (kind: string): string => kind.replaceAll('_', ' ');

export function HistoryScreen({ app, query }: Props) {
  const { polled, entries, hasMore, isLoading, failure, more } = usePages(app);
  const kind = query.get('kind');
  const version = query.get('version') ?? '';
  const shown = filterEntries(entries, kind, version);
  const kinds = new Set([...entries.map((entry) => entry.kind), kind ?? ''].filter(Boolean));
  const { value, failure: lost, failingSince } = polled;
  return (
    <Page title="History" above={<bdi>{app}</bdi>} below="Who changed what, and when">
      <div role="status" class="freshness">
        {value !== null && lost !== null && failingSince !== null && (
          <Notice tone="critical">
            <strong>
              No answer since <Time at={new Date(failingSince).toISOString()} ago />
            </strong>
            : {lost.message} The page shows the last data that it received.
          </Notice>
        )}
      </div>
      <div class="filters">
        <input
          type="search"
          aria-label="Version"
          placeholder="Version"
          value={version}
          onInput={(event) => replaceQuery({ kind, version: event.currentTarget.value })}
        />
        <select
          aria-label="Kind of change"
          value={kind ?? ''}
          onChange={(event) => replaceQuery({ kind: event.currentTarget.value || null, version })}
        >
          <option value="">Every kind of change</option>
          {[...kinds].sort().map((name) => (
            <option key={name} value={name} selected={name === kind}>
              {kindName(name)}
            </option>
          ))}
        </select>
        <span class="found" role="status">
          {value === null ? '' : `${counted(shown.length, 'change')} of ${entries.length} loaded`}
        </span>
      </div>
      {value === null ? (
        <Loading failure={lost} reload={polled.reload} what="the history" rows={14} />
      ) : shown.length === 0 ? (
        <div class="empty">
          <h2>{entries.length === 0 ? 'No change yet' : 'No loaded change matches'}</h2>
          {entries.length === 0 ? (
            <pre class="command">slipway publish 1.0.0 dist --app {app}</pre>
          ) : (
            <p>Load older changes below, or clear the filters.</p>
          )}
        </div>
      ) : (
        <ol class="history">
          {shown.map((entry) => (
            <HistoryItem key={entry.revision} app={app} entry={entry} />
          ))}
        </ol>
      )}
      <FailureNotice failure={failure} what="Older changes could not be loaded." />
      {hasMore && value !== null && (
        <div class="more">
          <Button busy={isLoading} onClick={() => void more()}>
            Load older changes
          </Button>
        </div>
      )}
    </Page>
  );
}

function filterEntries(
  entries: readonly HistoryEntry[],
  kind: string | null,
  version: string,
): readonly HistoryEntry[] {
  const wanted = version.trim().toLowerCase();
  return entries.filter(
    (entry) =>
      (kind === null || kind === '' || entry.kind === kind) &&
      (wanted === '' || (entry.version ?? '').toLowerCase().includes(wanted)),
  );
}
