import { optionOf } from '../../catalog/reading/draft-text.ts';
import { correctNotes, type NotesCorrected } from '../../releases/publish/correct-notes.ts';
import type { ChangeOptions } from '../arguments.ts';
import { openContext } from '../context.ts';
import { differenceJson, printDifference } from '../forecast/difference-report.ts';
import { printUnrecorded } from '../ignored-options.ts';
import { alignColumns, printJson, printWhenLive } from '../output.ts';
import { readNotesFiles } from '../publish/notes-files.ts';
import { print, type Terminal } from '../terminal.ts';

interface NotesOptions extends ChangeOptions {
  readonly app?: string;
  readonly file?: readonly string[];
  readonly remove?: readonly string[];
  readonly reason?: string;
}

export async function notes(
  terminal: Terminal,
  version: string,
  options: NotesOptions,
): Promise<void> {
  const { file: files = [], remove = [], reason = null } = options;
  const set = await readNotesFiles(files, '--file');
  const context = await openContext(terminal);
  const application = options.app ?? context.config.defaultApplication;
  const done = await correctNotes(context, { application, version, set, remove, reason });
  const { changed, channels, manifest, revision, waiting, leftOut } = done;
  if (options.json) {
    printJson(terminal, {
      app: application,
      version,
      channels,
      manifest,
      catalog_revision: revision,
      changed,
      ...(waiting.length === 0 ? {} : { waiting }),
      ...(leftOut.length === 0 ? {} : { left_out: leftOut }),
      notes: done.notes,
      ...(await differenceJson(terminal, context, application, done)),
    });
    return;
  }
  const release = `${application} ${version}`;
  const where = `on ${channels.join(', ')} in ${context.place.text} (catalog revision ${revision})`;
  print(
    terminal,
    changed
      ? `Corrected the notes of ${release} ${where}.`
      : `Nothing to do: ${release} has these notes ${where}.`,
  );
  for (const channel of waiting) {
    print(
      terminal,
      `On ${channel}, clients see the notes once people with its keys have signed them: slipway sign ${version}${optionOf(channel)} --key FILE.`,
    );
  }
  for (const { channel, manifest: number } of leftOut) {
    print(
      terminal,
      `The draft of ${version} on ${channel} (manifest ${number}) plays no part here and stays a draft: no key of ${channel} made it.`,
    );
  }
  if (!changed) {
    printUnrecorded(terminal, reason);
    return;
  }
  for (const line of alignColumns(done.notes.map(rowOf))) print(terminal, `  ${line}`);
  printWhenLive(terminal, context, done.announced);
  await printDifference(terminal, context, application, done);
}

/** The row of one locale, with the beginnings of its texts: `~  de  "Erste." → "Zweite."`. */
function rowOf({ locale, before, after }: NotesCorrected['notes'][number]): readonly string[] {
  const signOfKnown = after === null ? '-' : '~';
  return [
    before === null ? '+' : signOfKnown,
    locale,
    [before, after]
      .filter((text) => text !== null)
      .map(beginningOf)
      .join(' → '),
  ];
}

const BEGINNING_LENGTH = 40;

function beginningOf(text: string): string {
  const [line = ''] = text.trim().split('\n');
  const isWhole = line === text.trim() && line.length <= BEGINNING_LENGTH;
  return JSON.stringify(isWhole ? line : `${line.slice(0, BEGINNING_LENGTH)}…`);
}
