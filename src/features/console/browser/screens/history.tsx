import { useState } from 'preact/hooks';
import type { HistoryEntry, Revision } from '../../answers.ts';
import { apiOf, failureOf } from '../api.ts';
import { counted, listed } from '../format.ts';
import { Button } from '../parts/button.tsx';
import { Select } from '../parts/field.tsx';
import { FailureNotice, LostBanner } from '../parts/notice.tsx';
import { Loading, Page } from '../parts/page.tsx';
import { ClientsTable, Differences } from '../parts/preview.tsx';
import { Time } from '../parts/time.tsx';
import { hrefOf, replaceQuery } from '../router.ts';
import { usePolled } from '../state/polled.ts';
import { usePages } from './history-pages.ts';

interface Props {
  readonly app: string;
  readonly query: URLSearchParams;
}

const kindName = (kind: string): string => kind.replaceAll('_', ' ');

export function HistoryScreen({ app, query }: Props) {
  const { polled, entries, hasMore, more } = usePages(app);
  const kind = query.get('kind');
  const version = query.get('version') ?? '';
  const shown = filterEntries(entries, kind, version);
  const kinds = new Set([...entries.map((entry) => entry.kind), kind ?? ''].filter(Boolean));
  const { value, failure, reload } = polled;
  return (
    <Page title="History" above={<bdi>{app}</bdi>} below="Who changed what, and when">
      <LostBanner polled={polled} />
      <div class="filters">
        <input
          type="search"
          aria-label="Version"
          placeholder="Version"
          value={version}
          onInput={(event) => replaceQuery({ kind, version: event.currentTarget.value })}
        />
        <Select
          label="Kind of change"
          value={kind ?? ''}
          options={[
            ['', 'Every change'],
            ...[...kinds].sort().map((name) => [name, kindName(name)] as const),
          ]}
          onChange={(name) => replaceQuery({ kind: name || null, version })}
        />
        <span class="found" role="status">
          {value === null ? '' : `${counted(shown.length, 'change')} of ${entries.length} loaded`}
        </span>
      </div>
      {value === null ? (
        <Loading app={app} failure={failure} reload={reload} what="the history" rows={14} />
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
      <FailureNotice
        failure={more.error === null ? null : failureOf(more.error)}
        what="Older changes could not be loaded."
      />
      {hasMore && value !== null && (
        <div class="more">
          <Button busy={more.isBusy} onClick={() => void more.start()}>
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

interface ItemProps {
  readonly app: string;
  readonly entry: HistoryEntry;
}

function HistoryItem({ app, entry }: ItemProps) {
  const [isOpen, setOpen] = useState(false);
  const { revision, at, by, kind, version, channels, targets, summary, reason, problem } = entry;
  if (problem !== null) {
    return (
      <li class="history-item">
        <span class="revision">{revision}</span>
        <div class="what error-text">
          <bdi>{problem}</bdi>
        </div>
      </li>
    );
  }
  return (
    <li class="history-item">
      <span class="revision" title={`Revision ${revision}`}>
        {revision}
      </span>
      <div class="what">
        <p class="event">
          <strong class={`kind ${kind}`}>{kindName(kind)}</strong>{' '}
          {version !== null && (
            <a class="version" href={hrefOf({ screen: 'release', app, version })}>
              <bdi>{version}</bdi>
            </a>
          )}{' '}
          {channels.length > 0 && <span>on {listed(channels)}</span>}{' '}
          {summary !== null && <bdi class="muted">{summary}</bdi>}
        </p>
        {reason !== null && (
          <p class="reason">
            “<bdi>{reason}</bdi>”
          </p>
        )}
        <p class="hint">
          <bdi>{by}</bdi>, <Time at={at} ago />
          {targets.length > 0 && ` · ${targets.join(', ')}`}
        </p>
        {isOpen && <Difference app={app} revision={revision} />}
      </div>
      <Button
        kind="quiet"
        size="small"
        expanded={isOpen}
        label={`${isOpen ? 'Hide' : 'Details of'} revision ${revision}`}
        onClick={() => setOpen(!isOpen)}
      >
        {isOpen ? 'Hide' : 'Details'}
      </Button>
    </li>
  );
}

/** A revision never changes, so the page requests it once. */
function Difference({ app, revision }: { readonly app: string; readonly revision: number }) {
  const path = apiOf(app, `history/${revision}`);
  const { value, failure, reload } = usePolled<Revision>(path, { once: true });
  if (value === null)
    return <Loading failure={failure} reload={reload} what="the difference" rows={3} />;
  return (
    <div class="difference">
      {value.differences.length === 0 ? (
        <p class="muted">This change made no difference to what the channels offer.</p>
      ) : (
        <Differences rows={value.differences} />
      )}
      {value.clients.length > 0 && <ClientsTable clients={value.clients} showCaption />}
    </div>
  );
}
