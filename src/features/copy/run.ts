import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { EXIT } from '../../cli/exit-code.ts';
import { firstLines, formatBytes, printJson } from '../../cli/output.ts';
import { placeOf } from '../../cli/place.ts';
import { createProgress } from '../../cli/progress.ts';
import { print, type Terminal } from '../../cli/terminal.ts';
import { counted } from '../../core/counted.ts';
import { systemClock, systemRandomness } from '../../core/system.ts';
import type { StoreSettings } from '../../store/open/settings.ts';
import { type CopiedObject, isPrivate, tallyOf } from './copy-plan.ts';
import { type CopyResult, copyStore } from './copy-store.ts';
import { openCopy } from './open-copy.ts';

interface CopyOptions {
  readonly fromEnv?: string;
  readonly toEnv?: string;
  readonly deep: boolean;
  readonly prune: boolean;
  readonly dryRun: boolean;
  readonly json: boolean;
}

export async function copy(
  terminal: Terminal,
  from: string,
  to: string,
  { fromEnv, toEnv, dryRun: isDryRun, ...options }: CopyOptions,
): Promise<number> {
  const { json, deep, prune } = options;
  const opened = await openCopy(
    {
      facts: await terminal.facts(),
      env: terminal.environment(),
      clock: systemClock,
      randomness: systemRandomness,
    },
    { from, to, fromEnv, toEnv },
  );
  const names = {
    from: placeOf(opened.from.config, 'releases').text,
    to: placeOf(opened.to.config, 'releases').text,
  };
  if (terminal.session !== undefined) {
    terminal.session.interruption = `The copy was interrupted. What was copied to ${names.to} stays: run the same command again, and it continues.`;
  }
  if (isDryRun && !json) print(terminal, `Dry run: nothing is written to ${names.to}.`);
  const progress = createProgress(terminal, json);
  const result = await copyStore(
    {
      ...opened,
      from: { store: opened.from.store, name: names.from },
      to: { store: opened.to.store, name: names.to },
      onProgress: progress.show,
    },
    { deep, prune, isDryRun },
  ).finally(progress.stop);
  const report = {
    result,
    names,
    isDryRun,
    prune,
    settings: settingsOf(opened.to.config),
    ...directoriesOf(opened.from.config, opened.to.config),
  };
  if (json) printJson(terminal, copyJson(report));
  else printCopy(terminal, report);
  return result.problems.length > 0 ? EXIT.failed : EXIT.done;
}

/** The settings with which a command or a service uses the copy. */
function settingsOf({ store, dataDirectory }: StoreSettings): string {
  if (store.kind === 'filesystem') return `OBJECT_STORE=filesystem DATA_DIR=${dataDirectory}`;
  const prefix = store.prefix === '' ? '' : ` S3_PREFIX=${store.prefix}`;
  return `OBJECT_STORE=s3 S3_BUCKET=${store.bucket}${prefix}`;
}

/** Finds the directories that the copy leaves out. A directory store has them beside the objects. */
function directoriesOf(from: StoreSettings, to: StoreSettings) {
  const find = ({ store, dataDirectory }: StoreSettings, name: string): string | undefined => {
    const directory = path.join(dataDirectory, name);
    return store.kind === 'filesystem' && existsSync(directory) ? directory : undefined;
  };
  const state = find(to, 'state');
  return {
    secrets: find(from, 'secrets'),
    state: state !== undefined && hasSavedCatalogs(state) ? state : undefined,
  };
}

/** A service saves catalogs in a directory for each store. A command alone saves only which store it is, in a file. */
function hasSavedCatalogs(state: string): boolean {
  return readdirSync(state, { withFileTypes: true }).some((entry) => entry.isDirectory());
}

interface CopyReport {
  readonly result: CopyResult;
  readonly names: { readonly from: string; readonly to: string };
  readonly isDryRun: boolean;
  readonly prune: boolean;
  /** The settings with which a command uses the copy. */
  readonly settings: string;
  /** The secrets of a source directory; undefined for none. */
  readonly secrets: string | undefined;
  /** The saved catalogs of a target directory; undefined for none. */
  readonly state: string | undefined;
}

/** The kinds of objects in reports. */
const GROUPS: readonly { readonly name: string; includes(object: CopiedObject): boolean }[] = [
  { name: 'files', includes: ({ kind }) => kind === 'artifact' || kind === 'carried' },
  { name: 'manifests', includes: ({ kind }) => kind === 'manifest' },
  { name: 'catalog_revisions', includes: ({ kind }) => kind === 'revision' },
  { name: 'application_lists', includes: ({ kind }) => kind === 'application list' },
  { name: 'change_hints', includes: ({ kind }) => kind === 'hint' },
  { name: 'private_documents', includes: isPrivate },
];

function groupsOf(objects: readonly CopiedObject[]) {
  return GROUPS.map(({ name, includes }) => ({ name, ...tallyOf(objects.filter(includes)) }));
}

function printCopy(terminal: Terminal, report: CopyReport): void {
  const { result, names, isDryRun } = report;
  const objects = isDryRun ? result.missing : result.written;
  const { bytes } = tallyOf(objects);
  const what = isDryRun ? 'Would be copied' : 'Copied';
  print(
    terminal,
    `${what} from ${names.from} to ${names.to}: ${counted(objects.length, 'object')} (${formatBytes(bytes)}). Already in ${names.to}: ${result.unchanged}.`,
  );
  for (const group of groupsOf(objects)) {
    if (group.objects === 0) continue;
    const name = group.name.replace('_', ' ');
    print(terminal, `  ${name}: ${group.objects} (${formatBytes(group.bytes)})`);
  }
  for (const line of notesOf(report)) print(terminal, line);
  if (result.problems.length > 0) {
    print(terminal);
    print(terminal, `${counted(result.problems.length, 'problem')}:`);
    const lines = result.problems.map(({ detail }) => `  ${detail}`);
    for (const line of firstLines(lines)) print(terminal, line);
  }
  if (isDryRun) return;
  print(terminal);
  for (const line of nextSteps(report)) print(terminal, line);
}

function notesOf(report: CopyReport): readonly string[] {
  const { result, names, isDryRun } = report;
  const { gone, unnamed, pruned, foreign, isPruneHeld, maybeErased } = result;
  const notes: string[] = [];
  if (gone.length > 0) {
    notes.push(`Deleted in ${names.from} during the copy: ${counted(gone.length, 'object')}.`);
  }
  if (unnamed.length > 0) {
    notes.push(
      `Not copied, because their publish is not finished: ${counted(unnamed.length, 'object')}.`,
    );
  }
  if (pruned.length > 0)
    notes.push(`Deleted from ${names.to}: ${counted(pruned.length, 'object')}.`);
  const lost = new Set(result.problems.map(({ key }) => key));
  const extra = result.extra.filter(({ key }) => !lost.has(key));
  if (extra.length > 0) {
    // When there is a problem, or the catalog is not copied yet, the source may have lost some of these objects instead
    // of erasing them. So the note then states no reason.
    const isErased = result.problems.length === 0 && !isDryRun && keptPrivate(result) === undefined;
    const why = isErased ? `, because ${names.from} has erased or cleaned them up` : '';
    const only = `Only in ${names.to}${why}: ${counted(extra.length, 'object')}.`;
    notes.push(`${only}${adviceOn(report)}`);
  }
  if (maybeErased.length > 0) {
    const what = `Accounts, sessions, messages and other private data ${isDryRun ? 'that would be written' : 'written'} to ${names.to}, which may have erased them: ${counted(maybeErased.length, 'object')}.`;
    const list = '--json has their keys in maybe_erased_in_target.';
    notes.push(`${what} If ${names.to} is in use and not a backup, erase them again. ${list}`);
  }
  if (isPruneHeld) notes.push('--prune deleted nothing, because of the problems below.');
  if (foreign.count > 0) {
    notes.push(
      `Not copied, because Slipway does not write such objects: ${counted(foreign.count, 'object')} in ${names.from}, such as ${foreign.first}.`,
    );
  }
  return notes;
}

function adviceOn({ result, names, prune, isDryRun }: CopyReport): string {
  if (!prune) return ` Add --prune to delete what ${names.from} has erased or cleaned up.`;
  if (isDryRun) return ' --prune deletes them, except files that a manifest names.';
  return keptPrivate(result) ?? '';
}

/** Explains why the prune kept private data: a source without private data is more likely the wrong store. */
function keptPrivate({ extra, hasPrivate }: CopyResult): string | undefined {
  return !hasPrivate && extra.some(isPrivate)
    ? ' --prune keeps private data, because the source has none. If that is right, erase it in the copy with "slipway accounts erase" and "slipway contact erase".'
    : undefined;
}

function nextSteps(report: CopyReport): readonly string[] {
  const { result, names, settings, secrets, state } = report;
  const incomplete = `The copy is not complete. Solve the problems above, and run the same command again. docs/operations/backup.md#restore-one-object in Slipway's repository says how to restore an object.`;
  return [
    ...(result.problems.length > 0 ? [incomplete] : ['The copy is complete.']),
    ...(result.hasReleases
      ? [`To check it, run with the settings ${settings}: slipway verify --deep`]
      : []),
    ...(result.hasPrivate
      ? []
      : [
          `${names.from} has no accounts, messages or counts. If S3_PRIVATE_BUCKET is set, copy that bucket to another place with a second command.`,
        ]),
    secrets === undefined
      ? 'Secrets are not in the store. Keep SESSION_SECRET, ACCESS_TOKEN_KEYS and URL_SIGNING_SECRET, or DATA_DIR/secrets of the service.'
      : `Secrets are not in the store. Keep ${secrets}, in a place that only its owner can read.`,
    ...(state === undefined
      ? []
      : [
          `Delete ${state} before a service starts with this copy: it has saved catalogs, and a service refuses revisions that are older than these.`,
        ]),
  ];
}

function copyJson({ result, names, isDryRun }: CopyReport): object {
  const objects = isDryRun ? result.missing : result.written;
  const keysOf = (list: readonly CopiedObject[]) => list.map(({ key }) => key);
  return {
    from: names.from,
    to: names.to,
    // In a dry run, these are the objects that would be copied.
    copied: {
      ...tallyOf(objects),
      by_kind: Object.fromEntries(
        groupsOf(objects).map(({ name, objects: count, bytes }) => [
          name,
          { objects: count, bytes },
        ]),
      ),
    },
    unchanged: result.unchanged,
    problems: result.problems,
    gone: keysOf(result.gone),
    unfinished: keysOf(result.unnamed),
    only_in_target: keysOf(result.extra),
    pruned: keysOf(result.pruned),
    maybe_erased_in_target: keysOf(result.maybeErased),
    foreign: result.foreign.count,
  };
}
