import { existsSync } from 'node:fs';
import path from 'node:path';
import { EXIT } from '../../cli/exit-code.ts';
import { printJson } from '../../cli/output.ts';
import { placeOf } from '../../cli/place.ts';
import { createProgress } from '../../cli/progress.ts';
import { print, type Terminal } from '../../cli/terminal.ts';
import { systemClock, systemRandomness } from '../../core/system.ts';
import type { StoreSettings } from '../../store/open/settings.ts';
import { copyStore } from './copy-store.ts';
import { openCopy } from './open-copy.ts';
import { copyJson, printCopy } from './report.ts';

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

/** The directories beside the objects of a directory store, which are not copied. */
function directoriesOf(from: StoreSettings, to: StoreSettings) {
  const find = ({ store, dataDirectory }: StoreSettings, name: string): string | undefined => {
    const directory = path.join(dataDirectory, name);
    return store.kind === 'filesystem' && existsSync(directory) ? directory : undefined;
  };
  return { secrets: find(from, 'secrets'), state: find(to, 'state') };
}
