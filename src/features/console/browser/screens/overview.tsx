import { useEffect, useId, useMemo, useRef, useState } from 'preact/hooks';
import type { Attention, Overview } from '../../answers.ts';
import { apiOf } from '../api.ts';
import { count, counted, dateAndTime } from '../format.ts';
import { Button } from '../parts/button.tsx';
import { optionsOf, Select, withChosen } from '../parts/field.tsx';
import { Icon, type IconName } from '../parts/icon.tsx';
import { FreshnessBanner } from '../parts/notice.tsx';
import { Loading, Page } from '../parts/page.tsx';
import { Sentence, Time } from '../parts/time.tsx';
import { hrefOf, type Query, type Route, replaceQuery } from '../router.ts';
import { usePolled } from '../state/polled.ts';
import {
  type Filter,
  filterReleases,
  isFiltered,
  parseFilter,
  STATUSES,
  type StatusFilter,
} from './overview-filter.ts';
import { ReleaseList } from './overview-list.tsx';

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
          failure === null && <span class="bone short" />
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
        <Loading app={app} failure={failure} reload={reload} what="the releases" rows={14} />
      ) : (
        <Releases overview={value} query={query} reload={reload} />
      )}
    </Page>
  );
}

/** The number of rows that the list shows at first. The search goes through all rows. */
const ROWS = 50;

interface ReleasesProps {
  readonly overview: Overview;
  readonly query: URLSearchParams;
  readonly reload: () => Promise<void>;
}

function Releases({ overview, query, reload }: ReleasesProps) {
  const filter = parseFilter(query);
  const [rows, setRows] = useState(ROWS);
  const { releases } = overview;
  const found = useMemo(() => filterReleases(releases, filter), [releases, query.toString()]);
  if (releases.length === 0) return <NoRelease app={overview.application} />;
  const shown = found.slice(0, rows);
  const isChannelUnknown =
    filter.channel !== null && !overview.channels.some(({ name }) => name === filter.channel);
  return (
    <>
      <AttentionList app={overview.application} attention={overview.attention} />
      <OverviewFilter overview={overview} filter={filter} found={found.length} />
      {found.length === 0 ? (
        <div class="empty">
          <h2>No release matches</h2>
          {isChannelUnknown ? (
            <p>
              <bdi>{overview.application}</bdi> has no channel <bdi>{filter.channel}</bdi>.
            </p>
          ) : (
            <p>The filter matches none of {counted(releases.length, 'release')}.</p>
          )}
          {isFiltered(filter) && <Button onClick={() => replaceQuery({})}>Show all</Button>}
        </div>
      ) : (
        <ReleaseList overview={overview} releases={shown} reload={reload} />
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

/** The number of entries that the list shows at first. A button shows the other entries. */
const ATTENTION_SHOWN = 4;
const LEVELS: Readonly<Record<Attention['severity'], readonly [IconName, string]>> = {
  info: ['info', 'For information'],
  warning: ['warning', 'Warning'],
  critical: ['stop', 'Critical'],
};

interface AttentionProps {
  readonly app: string;
  readonly attention: readonly Attention[];
}

function AttentionList({ app, attention }: AttentionProps) {
  const [isLong, setLong] = useState(false);
  if (attention.length === 0) {
    return (
      <p class="all-well">
        <Icon name="check" /> Nothing needs your attention.
      </p>
    );
  }
  const shown = isLong ? attention : attention.slice(0, ATTENTION_SHOWN);
  return (
    <section class="attention" aria-labelledby="attention-heading">
      <h2 id="attention-heading">Needs attention</h2>
      <ul>
        {shown.map((item) => (
          <Item key={item.sentence} app={app} item={item} />
        ))}
      </ul>
      {attention.length > ATTENTION_SHOWN && (
        <Button kind="quiet" expanded={isLong} onClick={() => setLong(!isLong)}>
          {isLong
            ? 'Show fewer'
            : `Show ${counted(attention.length - ATTENTION_SHOWN, 'more', 'more')}`}
        </Button>
      )}
    </section>
  );
}

function Item({ app, item }: { readonly app: string; readonly item: Attention }) {
  const [icon, word] = LEVELS[item.severity];
  const target = targetOf(app, item);
  const sentence = <Sentence text={item.sentence} />;
  return (
    <li class={item.severity}>
      <Icon name={icon} />
      <span class="visually-hidden">{word}: </span>
      {target === null ? sentence : <a href={hrefOf(...target)}>{sentence}</a>}
    </li>
  );
}

function targetOf(app: string, { kind, version, channel }: Attention): [Route, Query] | null {
  if (version === null) return null;
  const isRollout = kind === 'frozen' || kind === 'rolling_out';
  return isRollout
    ? [{ screen: 'rollout', app, version }, { channel }]
    : [{ screen: 'release', app, version }, {}];
}

const STATUS_NAMES: Readonly<Record<StatusFilter, string>> = {
  active: 'Offered',
  rolling_out: 'Rolling out',
  replaced: 'Replaced',
  paused: 'Paused',
  yanked: 'Yanked',
  draft: 'Draft',
};

interface FilterProps {
  readonly overview: Overview;
  readonly filter: Filter;
  readonly found: number;
}

/** The filter is in the address, so a link can share it. */
function OverviewFilter({ overview, filter, found }: FilterProps) {
  const id = useId();
  // A channel of the address may not exist.
  const names = overview.channels.map(({ name }) => name);
  const channels = withChosen(names, filter.channel);
  const [text, setText] = useState(filter.text);
  const field = useRef<HTMLInputElement>(null);
  // The browser's "Back" and the button "Show all" change the address, too.
  useEffect(() => {
    if (document.activeElement !== field.current) setText(filter.text);
  }, [filter.text]);
  const write = (change: Partial<Filter>) => {
    const { text: q, status, channel } = { ...filter, text, ...change };
    replaceQuery({ q, status, channel });
  };
  return (
    <search class="filters">
      <div class="search-field">
        <Icon name="search" />
        <label class="visually-hidden" for={id}>
          Search versions and targets
        </label>
        <input
          id={id}
          ref={field}
          type="search"
          placeholder="Version or target"
          value={text}
          autocomplete="off"
          spellcheck={false}
          onInput={(event) => {
            setText(event.currentTarget.value);
            write({ text: event.currentTarget.value });
          }}
        />
      </div>
      <Select
        label="Status"
        value={filter.status ?? ''}
        options={[
          ['', 'Any status'],
          ...STATUSES.map((status) => [status, STATUS_NAMES[status]] as const),
        ]}
        onChange={(status) => write({ status: (status || null) as StatusFilter | null })}
      />
      <Select
        label="Channel"
        value={filter.channel ?? ''}
        options={optionsOf(channels, 'Any channel')}
        onChange={(channel) => write({ channel: channel || null })}
      />
      <span class="found" role="status">
        {isFiltered(filter)
          ? `${count(found)} of ${counted(overview.releases.length, 'release')}`
          : counted(overview.releases.length, 'release')}
      </span>
    </search>
  );
}
