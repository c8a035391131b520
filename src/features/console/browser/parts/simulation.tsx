import type { SimulatedRollout } from '../../change-answers.ts';
import { count, counted, dateAndTime, portion } from '../format.ts';
import { colorOf, StackedChart } from './chart.tsx';
import { Table } from './table.tsx';

/** How a fleet would update, as a picture and as a table. */
export function SimulationChart({ simulation }: { readonly simulation: SimulatedRollout }) {
  const { fleet, installations, times, versions, stranded } = simulation;
  const moments = times.map((time) => Date.parse(time));
  // A share without a plan changes nothing later: there is nothing to draw over time.
  if (moments.length < 2) return <SimulatedOnce simulation={simulation} />;
  return (
    <section class="simulation">
      <h3>How {counted(installations, 'installation')} would update</h3>
      <p class="hint">
        <bdi>{fleet}</bdi>
      </p>
      <StackedChart
        label={`Installations by version over time, from ${count(installations)} simulated ones. The table below has the numbers.`}
        times={moments}
        layers={versions.map(({ version, counts }) => ({ name: version, values: counts }))}
        format={count}
        height={220}
        max={installations}
      />
      <Stranded sentences={stranded} />
      <details>
        <summary>The numbers</summary>
        <Table
          caption="Installations by version"
          heads={['Time', ...versions.map(({ version }) => version)]}
          numeric={versions.map((_, index) => index + 1)}
        >
          {moments.map((moment, row) => (
            <tr key={moment}>
              <th scope="row">{dateAndTime(moment)}</th>
              {versions.map(({ version, counts }) => (
                <td key={version} class="numeric">
                  {count(counts[row] ?? 0)}
                </td>
              ))}
            </tr>
          ))}
        </Table>
      </details>
    </section>
  );
}

/** Which versions a fleet would run, when nothing changes later. */
function SimulatedOnce({ simulation }: { readonly simulation: SimulatedRollout }) {
  const { fleet, installations, stranded } = simulation;
  const versions = simulation.versions.filter(({ counts }) => counts[0] !== 0);
  return (
    <section class="simulation">
      <h3>What {counted(installations, 'installation')} would run after they have checked</h3>
      <p class="hint">
        <bdi>{fleet}</bdi>
      </p>
      <Table
        caption="Installations by version"
        heads={['Version', 'Installations', 'Share']}
        numeric={[1]}
      >
        {versions.map(({ version, counts: [of = 0] }, index) => (
          <tr key={version}>
            <th scope="row">
              <bdi>{version}</bdi>
            </th>
            <td class="numeric">{count(of)}</td>
            <td class="bar-cell">
              {portion(of / installations)}
              <span
                class="bar"
                aria-hidden="true"
                style={{
                  width: `${(of / installations) * 100}%`,
                  background: `var(${colorOf(index)})`,
                }}
              />
            </td>
          </tr>
        ))}
      </Table>
      <Stranded sentences={stranded} />
    </section>
  );
}

const Stranded = ({ sentences }: { readonly sentences: readonly string[] }) => (
  <>
    {sentences.map((sentence) => (
      <p key={sentence}>
        <bdi>{sentence}</bdi>
      </p>
    ))}
  </>
);
