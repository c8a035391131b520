import { useState } from 'preact/hooks';
import type { Adoption } from '../../answers.ts';
import { apiOf } from '../api.ts';
import { count, dateOf, portion } from '../format.ts';
import { colorOf, StackedChart } from '../parts/chart.tsx';
import { optionsOf, Segments, Select, withChosen } from '../parts/field.tsx';
import { LostBanner, Notice } from '../parts/notice.tsx';
import { Loading, Page } from '../parts/page.tsx';
import { type Layer, shares } from '../parts/stack.ts';
import { Numbers, Table } from '../parts/table.tsx';
import { Sentence, Time } from '../parts/time.tsx';
import { replaceQuery, searchOf } from '../router.ts';
import { usePolled } from '../state/polled.ts';

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
  // A channel of the address may have no counts.
  const channels = withChosen(value?.channels ?? [], channel);
  return (
    <Page title="Adoption" above={<bdi>{app}</bdi>} below="Which versions clients run">
      <LostBanner polled={polled} />
      <div class="filters">
        <Select
          label="Period"
          value={days}
          options={PERIODS.map((period) => [period, `Last ${period} days`])}
          onChange={(period) => replaceQuery({ days: period, channel })}
        />
        <Select
          label="Channel"
          value={channel ?? ''}
          options={optionsOf(channels, 'Every channel')}
          onChange={(name) => replaceQuery({ days, channel: name || null })}
        />
      </div>
      {value === null ? (
        <Loading app={app} failure={failure} reload={reload} what="the counts" rows={12} />
      ) : (
        <Counts adoption={value} />
      )}
    </Page>
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

/** Shows which versions clients run now, because most of the counts of a period are from the past. */
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

const VERSIONS = 7;

/** One layer for each of the most used versions, and one layer for all other versions. */
function layersOf({ versions, days }: Adoption): readonly Layer[] {
  const named = versions.slice(0, VERSIONS);
  const rest = versions.slice(VERSIONS);
  const layers = named.map(({ version, checksByDay }) => ({ name: version, values: checksByDay }));
  if (rest.length === 0) return layers;
  const sums = days.map((_, day) =>
    rest.reduce((sum, { checksByDay }) => sum + (checksByDay[day] ?? 0), 0),
  );
  const name = named.some(({ version }) => version === 'other') ? 'all others' : 'other';
  return [...layers, { name, values: sums }];
}

const UNITS = [
  ['shares', 'Shares'],
  ['checks', 'Checks'],
] as const;

function AdoptionCharts({ adoption }: { readonly adoption: Adoption }) {
  const [unit, setUnit] = useState<'shares' | 'checks'>('shares');
  const isShare = unit === 'shares';
  const layers = layersOf(adoption);
  const times = adoption.days.map((day) => Date.parse(day));
  return (
    <section class="card" aria-labelledby="versions-heading">
      <div class="card-head">
        <h2 id="versions-heading">Versions over time</h2>
        <Segments legend="Unit" options={UNITS} chosen={unit} onChoose={setUnit} />
      </div>
      <StackedChart
        label={`${isShare ? 'Share of update checks' : 'Update checks'} by version and day. The table below has the numbers.`}
        times={times}
        layers={isShare ? shares(layers) : layers}
        format={isShare ? (value) => `${Math.round(value * 100)} %` : count}
        height={280}
        {...(isShare && { max: 1 })}
      />
    </section>
  );
}

function AdoptionTables({ adoption }: { readonly adoption: Adoption }) {
  const { versions, platforms, days, totalsByDay } = adoption;
  return (
    <div class="columns even">
      <section class="card" aria-labelledby="by-version">
        <h2 id="by-version">By version</h2>
        <Table
          caption="Counts by version"
          heads={['Version', 'Share', 'Checks', 'Offers', 'Download links']}
          numeric={[1, 2, 3, 4]}
        >
          {versions.map(({ version, share, checks, offers, links }, index) => (
            <tr key={version}>
              <th scope="row">
                <span
                  class="swatch"
                  style={{ background: `var(${colorOf(Math.min(index, 7))})` }}
                  aria-hidden="true"
                />
                <bdi>{version}</bdi>
              </th>
              {[portion(share), count(checks), count(offers), count(links)].map((text, column) => (
                <td key={column} class="numeric">
                  {text}
                </td>
              ))}
            </tr>
          ))}
        </Table>
      </section>
      <section class="card" aria-labelledby="by-platform">
        <h2 id="by-platform">By platform</h2>
        <Table
          caption="Checks by platform"
          heads={['Platform', 'Share', 'Checks']}
          numeric={[1, 2]}
        >
          {platforms.map(({ name, share, checks }) => (
            <tr key={name}>
              <th scope="row">
                <bdi>{name}</bdi>
              </th>
              <td class="numeric">{portion(share)}</td>
              <td class="numeric">{count(checks)}</td>
            </tr>
          ))}
        </Table>
        <details>
          <summary>By day</summary>
          <Table
            caption="Totals by day"
            heads={['Day', 'Checks', 'Offers', 'Download links']}
            numeric={[1, 2, 3]}
          >
            {days.map((day, index) => (
              <tr key={day}>
                <th scope="row">{dateOf(Date.parse(day))}</th>
                <td class="numeric">{count(totalsByDay[index]?.checks ?? 0)}</td>
                <td class="numeric">{count(totalsByDay[index]?.offers ?? 0)}</td>
                <td class="numeric">{count(totalsByDay[index]?.links ?? 0)}</td>
              </tr>
            ))}
          </Table>
        </details>
      </section>
    </div>
  );
}
