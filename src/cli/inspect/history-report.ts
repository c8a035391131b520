import type { HistoryEntry } from '../../releases/list/read-history.ts';
import { alignColumns, fitColumns, formatTime } from '../output.ts';
import { print, type Terminal } from '../terminal.ts';

/** The output of `slipway history`: a line for each change. */

const HEADER = 'REVISION AT BY CHANGE VERSION CHANNELS PLATFORMS REASON'.split(' ');
/** Those with texts of any length. */
const LONG_COLUMNS = ['BY', 'CHANNELS', 'PLATFORMS', 'REASON'].map((title) =>
  HEADER.indexOf(title),
);

/** Prints one line for each change. On a terminal, long texts are cut so that it stays one line. */
export function printHistory(terminal: Terminal, entries: readonly HistoryEntry[]): void {
  const rows = [HEADER, ...entries.map(rowOf)];
  const { isTTY, columns } = terminal.stdout;
  const fitting =
    isTTY === true && columns !== undefined ? fitColumns(rows, columns, LONG_COLUMNS) : rows;
  for (const line of alignColumns(fitting)) print(terminal, line);
}

function rowOf(entry: HistoryEntry): readonly string[] {
  if ('problem' in entry) {
    return [String(entry.revision), '', '', 'UNREADABLE', '', '', '', entry.problem];
  }
  const { at, by, change } = entry.document;
  return [
    String(entry.revision),
    formatTime(at),
    by,
    change.summary === null ? change.kind : `${change.kind} ${change.summary}`,
    change.version ?? '',
    change.channels.join(' '),
    change.targets.join(' '),
    change.reason ?? '',
  ];
}
