import type { Adoption } from '../../answers.ts';
import { apiOf } from '../api.ts';
import { portion } from '../format.ts';
import { FreshnessBanner, Notice } from '../parts/banner.tsx';
import { Numbers } from '../parts/numbers.tsx';
import { Loading, Page } from '../parts/page.tsx';
import { Sentence } from '../parts/sentence.tsx';
import { Time } from '../parts/time.tsx';
import { replaceQuery, searchOf } from '../router.ts';
import { type Polled, usePolled } from '../state/polled.ts';
import { AdoptionCharts } from './adoption-charts.tsx';
import { AdoptionTables } from './adoption-tables.tsx';

const PERIODS = ['7', '14', '42', '90'] as const;

interface Props {
  readonly app: string;
  readonly query: URLSearchParams;
}

export function AdoptionScreen({ app, query }: Props) {
  const days = PERIODS.find((period) => period === query.get('days')) ?? '42';
  const channel = query.get('channel');
  const polled = usePolled<Adoption>(apiOf(app, `adoption${searchOf({ days, channel })}`));
  const { value, failure, reload } = polled;
  return (
    <Page title="Adoption" above={<bdi>{app}</bdi>} below="Which versions clients run">
      <AdoptionBanner polled={polled} />
      <div class="filters">
        <select
          aria-label="Period"
          value={days}
          onChange={(event) => replaceQuery({ days: event.currentTarget.value, channel })}
        >
          {PERIODS.map((period) => (
            <option key={period} value={period} selected={period === days}>
              Last {period} days
            </option>
          ))}
        </select>
        <select
          aria-label="Channel"
          value={channel ?? ''}
          onChange={(event) => replaceQuery({ days, channel: event.currentTarget.value || null })}
        >
          <option value="">Every channel</option>
          {(value?.channels ?? (channel === null ? [] : [channel])).map((name) => (
            <option key={name} value={name} selected={name === channel}>
              {name}
            </option>
          ))}
        </select>
      </div>
      {value === null ? (
        <Loading failure={failure} reload={reload} what="the counts" rows={12} />
      ) : (
        <Counts adoption={value} />
      )}
    </Page>
  );
}

/** Counts have no revision, so the banner only says when the console's server does not answer. */
function AdoptionBanner({ polled }: { readonly polled: Polled<Adoption> }) {
  const { value, failure, failingSince } = polled;
  const seen = { ...polled, value: null };
  if (value === null || failure === null) return <FreshnessBanner polled={seen} />;
  const at = new Date(failingSince ?? Date.now()).toISOString();
  return (
    <div role="status" class="freshness">
      <Notice tone="critical">
        <strong>
          No answer since <Time at={at} ago />
        </strong>
        : {failure.message} The page shows the last data that it received.
      </Notice>
    </div>
  );
}

function Counts({ adoption }: { readonly adoption: Adoption }) {
  const { totals, problems, countedSince, countedUntil } = adoption;
  const numbers = [
    ['Update checks', totals.checks],
    ['Offers', totals.offers],
    ['Download links', totals.links],
  ] as const;
  return (
    <>
      {problems.map((sentence) => (
        <Notice key={sentence} tone="warning">
          <Sentence text={sentence} />
        </Notice>
      ))}
      {totals.checks === 0 && totals.offers === 0 && totals.links === 0 ? (
        <div class="empty">
          <h2>No client was counted in this period</h2>
          <p>
            A service counts checks, offers and download links, and stores the counts once a minute.
          </p>
          <pre class="command">slipway stats</pre>
        </div>
      ) : (
        <>
          <Now now={adoption.now} />
          <Numbers numbers={numbers} isCard />
          <AdoptionCharts adoption={adoption} />
          <AdoptionTables adoption={adoption} />
        </>
      )}
      {countedSince !== null && countedUntil !== null && (
        <p class="hint">
          Counted from <Time at={countedSince} ago /> to <Time at={countedUntil} ago />.
        </p>
      )}
    </>
  );
}

/** Which versions clients run now: the counts of a period are mostly from the past. */
function Now({ now }: Pick<Adoption, 'now'>) {
  if (now.length === 0) return null;
  return (
    <section class="card" aria-labelledby="now-heading">
      <h2 id="now-heading">Now</h2>
      <Numbers numbers={now.map(({ version, share }) => [version, portion(share)] as const)} />
      <p class="hint">Shares of the checks of yesterday and today.</p>
    </section>
  );
}
