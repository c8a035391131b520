import type { SimulatedRollout } from '../../../console/change-answers.ts';
import { count, counted, dateAndTime } from '../format.ts';
import { StackedChart } from './chart.tsx';
import { Table } from './table.tsx';

/** How a fleet would update, as a picture and as a table. */
export function SimulationChart({ simulation }: { readonly simulation: SimulatedRollout }) {
  const { fleet, installations, times, versions, stranded } = simulation;
  const moments = times.map((time) => Date.parse(time));
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
      {stranded.map((sentence) => (
        <p key={sentence}>
          <bdi>{sentence}</bdi>
        </p>
      ))}
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
