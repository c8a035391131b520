import type { ClientRow, DifferenceRow } from '../../answers.ts';
import type { Preview } from '../../change-answers.ts';
import { Notice } from './banner.tsx';
import { Sentence } from './sentence.tsx';
import { SimulationChart } from './simulation.tsx';
import { Table } from './table.tsx';

interface Props {
  readonly preview: Preview;
  /** As it is typed now: it may be newer than the preview. */
  readonly reason: string | null;
}

/** What a change would do, in sentences. */
export function PreviewSummary({ preview }: Pick<Props, 'preview'>) {
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
      {simulation !== null && <SimulationChart simulation={simulation} />}
    </div>
  );
}

/** A longer table hides what comes after it. */
const ROWS_OPEN_MAX = 4;

/** The details of a change, for those who want to read them before they decide. */
export function PreviewDetails({ preview, reason }: Props) {
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

/** For a POSIX shell. */
function withReason(command: string, reason: string | null): string {
  if (reason === null || command.includes(' --reason ')) return command;
  return `${command} --reason '${reason.replaceAll("'", `'\\''`)}'`;
}
