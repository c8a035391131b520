import { alignColumns } from '../../cli/output.ts';
import { print, type Terminal } from '../../cli/terminal.ts';
import type { Check } from '../../core/check.ts';

const REMEDY = '→ ';

/** Prints a group of checks, with the remedy below each finding. */
export function printChecks(terminal: Terminal, title: string, checks: readonly Check[]): void {
  print(terminal);
  print(terminal, title);
  const rows = checks.flatMap(({ outcome, name, detail, remedy }) => [
    [`  ${outcome}`, name, detail],
    ...(remedy === null ? [] : [[' ', ' ', `${REMEDY}${remedy}`]]),
  ]);
  for (const line of alignColumns(rows)) print(terminal, line);
}

/** The last line: how many checks failed or warn. */
export function printSummary(terminal: Terminal, checks: readonly Check[]): void {
  const count = (wanted: Check['outcome']) =>
    checks.filter(({ outcome }) => outcome === wanted).length;
  const [failures, warnings] = [count('failed'), count('warning')];
  print(terminal);
  if (failures === 0 && warnings === 0) print(terminal, 'Everything works.');
  else if (failures === 0) print(terminal, `Nothing failed. Warnings: ${warnings}.`);
  else print(terminal, `Failed: ${failures}. Warnings: ${warnings}.`);
}
