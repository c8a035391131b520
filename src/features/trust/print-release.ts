import { targetNames } from '../../catalog/reading/list-drafts.ts';
import type { Context } from '../../cli/context.ts';
import {
  alignColumns,
  fitRow,
  formatBytes,
  indented,
  printableText,
  terminalWidth,
} from '../../cli/output.ts';
import { print, type Terminal } from '../../cli/terminal.ts';
import { counted } from '../../core/counted.ts';
import type { Release, ReleaseNotes } from '../../domain/release.ts';
import type { WaitingRelease } from '../../releases/trust/sign-draft.ts';
import type { ReleaseFile } from './named-files.ts';

/**
 * A release as a person sees it before signing. An attacker who replaced the draft chose its notes, its names and its
 * links, and wants the person to read other digests than the ones that are signed. So the notes come first, and each of
 * their rows has a mark. The digests come last, and a text of the draft among them never gets a second row.
 */

/** A release that waits for signatures, with its files. */
export interface ShownRelease {
  readonly waiting: WaitingRelease;
  /** The keys of the channel that made the manifest; undefined: none of them did. */
  readonly maker: string | undefined;
  readonly release: Release;
  readonly files: readonly ReleaseFile[];
}

export function printRelease(
  terminal: Terminal,
  context: Pick<Context, 'place'>,
  shown: ShownRelease,
): void {
  const { application, channel, draft } = shown.waiting;
  const width = terminalWidth(terminal);
  printQuoted(terminal, shown.release, width);
  print(terminal, `\n${application} ${draft.version} on ${channel} in ${context.place.text}:`);
  for (const line of indented(2, alignColumns(factsOf(shown)))) {
    print(terminal, fitRow(line, width));
  }
  print(terminal, 'Its files, with their SHA-256:');
  for (const line of fileLines(shown.files, width)) print(terminal, line);
  print(terminal, `Manifest ${draft.manifest.number}, with its SHA-256:`);
  print(terminal, `  ${draft.manifest.digest}`);
}

/** The maximum number of rows of notes, so that their beginning stays on the screen. */
const NOTES_ROWS_MAX = 40;
const MARK = '| ';

function printQuoted(terminal: Terminal, { version, notes }: Release, width: number): void {
  const rows = notesRows(notes);
  if (rows.length === 0) {
    print(terminal, 'The draft has no notes.');
    return;
  }
  const left = rows.length - NOTES_ROWS_MAX;
  const part =
    left <= 0
      ? ''
      : ` (the first ${NOTES_ROWS_MAX}; ${counted(left, 'row')} left out; "slipway show ${version}" shows all)`;
  print(terminal, `Notes of the draft, each row behind "|"${part}:`);
  for (const row of rows.slice(0, NOTES_ROWS_MAX)) {
    print(terminal, `${MARK}${fitRow(row, width - MARK.length)}`);
  }
}

function notesRows(notes: ReleaseNotes): readonly string[] {
  return Object.entries(notes).flatMap(([locale, text]) => [
    ...(locale === 'und' ? [] : [`(${locale})`]),
    ...printableText(text).trimEnd().split('\n'),
  ]);
}

function factsOf({ waiting, maker, release }: ShownRelease): readonly (readonly string[])[] {
  const { keys, next, signatures } = waiting;
  const { provenance } = release;
  // One row for each target: a row that is cut must not hide one.
  const ended = release.endsNative.map((target) => ['ends builds for', targetNames([target])]);
  return [
    ['name', release.name ?? ''],
    ['commit', provenance.commit ?? ''],
    ['build', provenance.buildUrl ?? ''],
    ['requires', release.requires ?? 'any version'],
    ['mandatory for', release.mandatoryFor ?? 'none'],
    ...(ended.length === 0 ? [['ends builds for', 'no machine']] : ended),
    ['channel inherits', String(next.x_slipway_inherits ?? 'nothing')],
    ['downgrades', next.x_slipway_allow_downgrade === true ? 'allowed' : 'not allowed'],
    ['made by', maker ?? `no key of ${waiting.channel}`],
    ['signatures', `${signatures.length} of ${keys.threshold}`],
  ];
}

/** Three rows for each file. A digest is never cut: a narrow terminal breaks it. */
function fileLines(files: readonly ReleaseFile[], width: number): readonly string[] {
  const numberOf = (wanted: string): number => files.findIndex(({ name }) => name === wanted) + 1;
  return files.flatMap((file, index) => [
    fitRow(`  ${index + 1}. ${file.name}`, width),
    fitRow(`     ${kindText(file, numberOf)}, ${formatBytes(file.size)}`, width),
    `     ${file.sha256}`,
  ]);
}

function kindText(
  { kind, of, target, format }: ReleaseFile,
  numberOf: (name: string) => number,
): string {
  if (kind === 'artifact') return `${target} ${format}`;
  return of === null ? 'signed document' : `${kind} of file ${numberOf(of)}`;
}
