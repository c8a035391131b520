import type { ClientRow, DifferenceRow, Preview, SimulatedRollout } from '../../answers.ts';
import { count, counted, dateAndTime, portion } from '../format.ts';
import { colorOf, StackedChart } from './chart.tsx';
import { Notice } from './notice.tsx';
import { Table } from './table.tsx';
import { Sentence } from './time.tsx';

/** Shows what a change would do. */
export function PreviewSummary({ preview }: { readonly preview: Preview }) {
  const { changes, consequences, simulation } = preview;
  return (
    <div class="preview">
      {!changes && <Notice tone="info">There is nothing to confirm.</Notice>}
      <ul class="consequences">
        {consequences.map((sentence) => (
          <li key={sentence}>
            <Sentence text={sentence} />
          </li>
        ))}
      </ul>
      {simulation !== null && <Simulation simulation={simulation} />}
    </div>
  );
}

/** The maximum number of rows that a table shows at first. A longer table would hide the content below it. */
const ROWS_OPEN_MAX = 4;

interface DetailsProps {
  readonly preview: Preview;
  /** The reason as the operator typed it. It may be newer than the preview. */
  readonly reason: string | null;
}

/** The details of a change, for operators who want to read them before they decide. */
export function PreviewDetails({ preview, reason }: DetailsProps) {
  const { clients, differences, command } = preview;
  return (
    <div class="preview">
      {clients.length > 0 && (
        <details open={clients.length <= ROWS_OPEN_MAX}>
          <summary>Clients that are offered another release than before ({clients.length})</summary>
          <ClientsTable clients={clients} />
        </details>
      )}
      {differences.length > 0 && (
        <details>
          <summary>Every difference ({differences.length})</summary>
          <Differences rows={differences} />
        </details>
      )}
      <details>
        <summary>The command that makes this change</summary>
        <pre class="command">{withReason(command, reason)}</pre>
      </details>
    </div>
  );
}

interface ClientsProps {
  readonly clients: readonly ClientRow[];
  readonly showCaption?: boolean;
}

export const ClientsTable = ({ clients, showCaption = false }: ClientsProps) => (
  <Table
    caption="Clients that are offered another release than before"
    showCaption={showCaption}
    heads={['Channel', 'Client', 'Installed', 'Before', 'After']}
  >
    {clients.map((row) => (
      <tr key={`${row.channel} ${row.target} ${row.installed}`}>
        <td>{row.channel}</td>
        <td>{row.target}</td>
        <td>{row.installed}</td>
        <td>{row.before}</td>
        <td>
          <strong>{row.after}</strong>
        </td>
      </tr>
    ))}
  </Table>
);

const SIGNS = { '+': 'added', '-': 'removed', '~': 'changed' } as const;

export const Differences = ({ rows }: { readonly rows: readonly DifferenceRow[] }) => (
  <ul class="differences">
    {rows.map(({ sign, channel, what, detail }) => (
      <li key={`${sign}${channel}${what}${detail}`} class={SIGNS[sign]}>
        <span class="sign" aria-hidden="true">
          {sign}
        </span>
        <span class="visually-hidden">{SIGNS[sign]}: </span>
        <span class="channel">{channel}</span>
        <span>
          <bdi>{what}</bdi> <bdi class="muted">{detail}</bdi>
        </span>
      </li>
    ))}
  </ul>
);

/** Adds the reason to the command, in quotes for a POSIX shell. */
function withReason(command: string, reason: string | null): string {
  if (reason === null || command.includes(' --reason ')) return command;
  return `${command} --reason '${reason.replaceAll("'", `'\\''`)}'`;
}

interface SimulationProps {
  readonly simulation: SimulatedRollout;
}

/** Shows how a fleet would update, as a picture and as a table. */
function Simulation({ simulation }: SimulationProps) {
  const { fleet, installations, times, versions, stranded } = simulation;
  const moments = times.map((time) => Date.parse(time));
  // A share without a plan stays the same, so a chart over time would show nothing.
  const isOnce = moments.length < 2;
  const fleetSize = counted(installations, 'installation');
  return (
    <section class="simulation">
      <h3>
        {isOnce ? (
          <>What {fleetSize} would run after they have checked</>
        ) : (
          <>How {fleetSize} would update</>
        )}
      </h3>
      <p class="hint">
        <bdi>{fleet}</bdi>
      </p>
      {isOnce ? (
        <VersionShares simulation={simulation} />
      ) : (
        <StackedChart
          label={`Installations by version over time, from ${count(installations)} simulated ones. The table below has the numbers.`}
          times={moments}
          layers={versions.map(({ version, counts }) => ({ name: version, values: counts }))}
          format={count}
          height={220}
          max={installations}
        />
      )}
      {stranded.map((sentence) => (
        <p key={sentence}>
          <bdi>{sentence}</bdi>
        </p>
      ))}
      {!isOnce && (
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
      )}
    </section>
  );
}

const VersionShares = ({ simulation: { installations, versions } }: SimulationProps) => (
  <Table
    caption="Installations by version"
    heads={['Version', 'Installations', 'Share']}
    numeric={[1]}
  >
    {versions
      .filter(({ counts }) => counts[0] !== 0)
      .map(({ version, counts: [of = 0] }, index) => (
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
);
