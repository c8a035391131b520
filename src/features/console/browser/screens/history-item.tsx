import { useState } from 'preact/hooks';
import type { HistoryEntry, Revision } from '../../answers.ts';
import { apiOf } from '../api.ts';
import { listed } from '../format.ts';
import { Button } from '../parts/button.tsx';
import { Loading } from '../parts/page.tsx';
import { ClientsTable, Differences } from '../parts/preview.tsx';
import { Time } from '../parts/time.tsx';
import { hrefOf } from '../router.ts';
import { usePolled } from '../state/polled.ts';

interface Props {
  readonly app: string;
  readonly entry: HistoryEntry;
}

export function HistoryItem({ app, entry }: Props) {
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
          <strong class={`kind ${kind}`}>{kind.replaceAll('_', ' ')}</strong>{' '}
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
