import {
  answer,
  decidedFrom,
  type Explained,
  reasonRows,
  remarks,
} from '../../answers/explain/explanation-text.ts';
import { changeLines, isPast } from '../../answers/explain/remedies-text.ts';
import { compared } from '../../answers/explain/rules-text.ts';
import { alignColumns, printableText, printTable } from '../../cli/output.ts';
import { print, type Terminal } from '../../cli/terminal.ts';

/**
 * What `slipway explain` prints: first the answer, then the reasons, then what would change it. A table of every rule
 * is last, for those who have to check it.
 */

export interface ExplanationReport extends Explained {
  /** The store. */
  readonly where: string;
}

export function reportExplanation(terminal: Terminal, report: ExplanationReport): void {
  const { explained, where, app } = report;
  print(terminal, printableText(answer(explained)));
  print(terminal, printableText(`${decidedFrom(explained)} in ${where}.`));
  section(terminal, 'Why, from the newest release on:', alignColumns(reasonRows(report)));
  section(terminal, 'Also:', remarks(report));
  const title = isPast(explained)
    ? 'What would have changed it then (a command changes the present state):'
    : 'What would change it:';
  section(terminal, title, changeLines(explained, app));
  if (explained.releases.length === 0) return;
  print(terminal, '\nEvery rule, in the order in which it is applied:');
  printTable(terminal, ['version', 'rule', 'result', 'compared'], ruleRows(report));
}

function section(terminal: Terminal, title: string, lines: readonly string[]): void {
  if (lines.length === 0) return;
  print(terminal, `\n${title}`);
  for (const line of lines) print(terminal, `  ${printableText(line)}`);
}

const RESULTS = { passed: 'passes', failed: 'FAILS', not_checked: '-' } as const;

function ruleRows({ explained, changes }: ExplanationReport): readonly (readonly string[])[] {
  return explained.releases.flatMap((release) =>
    release.rules.map((rule, index) => [
      index === 0 ? release.version : ' ',
      rule.rule.replace('_', ' '),
      RESULTS[rule.result],
      compared(rule, release, explained, changes),
    ]),
  );
}
