import { collectGarbage } from '../../../src/operations/collect-garbage.ts';
import { openContext } from '../context.ts';
import { formatBytes, printJson } from '../output.ts';
import { print, type Terminal } from '../terminal.ts';

export async function gc(
  terminal: Terminal,
  options: { app?: string; dryRun: boolean; json: boolean },
): Promise<void> {
  const context = await openContext(terminal);
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
    printJson(terminal, {
      dry_run: options.dryRun,
      applications,
      abandoned_uploads: abandonedUploads,
    });
    return;
  }
  if (results.length === 0) print(terminal, 'Nothing is published yet.');
  for (const { application, objects, bytes } of results) {
    const verb = options.dryRun ? 'would be removed' : 'removed';
    print(
      terminal,
      `${application}: ${objects.length} unused files (${formatBytes(bytes)}) ${verb}.`,
    );
    for (const { key, size } of objects) print(terminal, `  ${key}  ${formatBytes(size)}`);
  }
  if (abandonedUploads > 0) print(terminal, `${abandonedUploads} interrupted uploads cleared.`);
}
