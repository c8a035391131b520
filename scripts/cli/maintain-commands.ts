import { stat } from 'node:fs/promises';
import path from 'node:path';
import type { Command } from 'commander';
import { parseApplicationName } from '../../src/domain/channel.ts';
import { collectGarbage } from '../../src/operations/collect-garbage.ts';
import { diagnose } from '../../src/operations/diagnose.ts';
import { verifyCatalog } from '../../src/operations/verify-catalog.ts';
import { openContext } from './context.ts';
import { alignColumns, EXIT, formatBytes, printableText, printJson } from './output.ts';
import { createProgress } from './progress.ts';

const FETCH_TIMEOUT_MS = 10_000;

export function addMaintainCommands(program: Command): void {
  program
    .command('verify')
    .summary('hold what is stored against what the catalog says')
    .option('--app <name>', 'only this application (default: all)', parseApplicationName)
    .option('--deep', 'also read every revision and the bytes of every file', false)
    .option('--json', 'print JSON', false)
    .action(verify);
  program
    .command('doctor')
    .summary('try everything that publishing and serving need of the store')
    .option('--json', 'print JSON', false)
    .action(doctor);
  program
    .command('gc')
    .summary('remove uploads that no release names and that are older than a week')
    .option('--app <name>', 'only this application (default: all)', parseApplicationName)
    .option('--dry-run', 'only say what would be removed', false)
    .option('--json', 'print JSON', false)
    .action(gc);
}

async function verify(options: { app?: string; deep: boolean; json: boolean }): Promise<void> {
  const context = await openContext();
  const progress = createProgress(options.json);
  const results = await verifyCatalog(
    {
      ...context,
      onProgress: (done, total, what) => progress.show(`checking ${what}`, done, total),
    },
    { application: options.app, deep: options.deep },
  ).finally(progress.stop);
  const isSound = results.every(({ problems }) => problems.length === 0);
  if (!isSound) process.exitCode = EXIT.failed;
  if (options.json) {
    const applications = results.map((result) => ({
      app: result.application,
      catalog_revision: result.revision,
      revisions_checked: result.revisionsChecked,
      manifests_checked: result.manifestsChecked,
      files_checked: result.filesChecked,
      bytes_read: result.bytesRead,
      problems: result.problems,
    }));
    printJson({ sound: isSound, applications });
    return;
  }
  if (results.length === 0) console.log('Nothing is published yet.');
  for (const result of results) {
    const read = options.deep ? `, ${formatBytes(result.bytesRead)} read` : '';
    console.log(
      `${result.application}: revision ${result.revision}; ${result.revisionsChecked} revisions, ${result.manifestsChecked} manifests and ${result.filesChecked} files checked${read}: ${result.problems.length === 0 ? 'sound' : `${result.problems.length} problems`}.`,
    );
    for (const problem of result.problems) console.log(printableText(`  ${problem}`));
  }
}

async function doctor(options: { json: boolean }): Promise<void> {
  const context = await openContext();
  const checks = await diagnose({
    ...context,
    probe: async () => {
      await context.ensureConforming({ fresh: true });
      return 'A key can be taken only once, also by 32 writers at the same moment.';
    },
    fetchPresigned: context.config.store.kind === 's3' ? fetchStatus : undefined,
    isOpenToUsers:
      context.config.store.kind === 's3'
        ? undefined
        : () => isOpenToUsers(path.join(context.config.dataDirectory, 'objects')),
  });
  if (checks.some(({ outcome }) => outcome === 'failed')) process.exitCode = EXIT.failed;
  if (options.json) printJson({ store: context.store.location, checks });
  else {
    for (const line of alignColumns(
      checks.map(({ outcome, name, detail }) => [outcome, name, detail]),
    )) {
      console.log(line);
    }
  }
}

/** Windows has no such bits, and says that everybody may: its own permissions count there. */
async function isOpenToUsers(directory: string): Promise<boolean> {
  if (process.platform === 'win32') return false;
  return ((await stat(directory)).mode & 0o077) !== 0;
}

async function fetchStatus(url: string): Promise<number> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(FETCH_TIMEOUT_MS) });
    await response.arrayBuffer();
    return response.status;
  } catch {
    return 0;
  }
}

async function gc(options: { app?: string; dryRun: boolean; json: boolean }): Promise<void> {
  const context = await openContext();
  const { results, abandonedUploads } = await collectGarbage(context, {
    application: options.app,
    dryRun: options.dryRun,
  });
  if (options.json) {
    const applications = results.map(({ application, objects, bytes }) => ({
      app: application,
      bytes,
      objects: objects.map(({ key, size }) => ({ key, size })),
    }));
    printJson({ dry_run: options.dryRun, applications, abandoned_uploads: abandonedUploads });
    return;
  }
  if (results.length === 0) console.log('Nothing is published yet.');
  for (const { application, objects, bytes } of results) {
    const verb = options.dryRun ? 'would be removed' : 'removed';
    console.log(`${application}: ${objects.length} unused files (${formatBytes(bytes)}) ${verb}.`);
    for (const { key, size } of objects) console.log(`  ${key}  ${formatBytes(size)}`);
  }
  if (abandonedUploads > 0) console.log(`${abandonedUploads} interrupted uploads cleared.`);
}
