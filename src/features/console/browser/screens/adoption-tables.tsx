import type { Adoption } from '../../answers.ts';
import { count, dateOf, portion } from '../format.ts';
import { colorOf } from '../parts/chart.tsx';
import { Table } from '../parts/table.tsx';

export function AdoptionTables({ adoption }: { readonly adoption: Adoption }) {
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
