import { counted } from '../../core/counted.ts';
import { collectGarbage } from '../../releases/verify/collect-garbage.ts';
import { openContext } from '../context.ts';
import { EXIT } from '../exit-code.ts';
import { formatBytes, printJson } from '../output.ts';
import { print, type Terminal } from '../terminal.ts';

export async function gc(
  terminal: Terminal,
  options: { app?: string; json: boolean },
): Promise<number> {
  const context = await openContext(terminal);
  const { results, abandonedUploads } = await collectGarbage(context, {
    application: options.app,
  });
  const code = results.some(({ refusal }) => refusal !== undefined) ? EXIT.failed : EXIT.done;
  if (options.json) {
    const applications = results.map(({ application, objects, bytes, refusal }) => ({
      app: application,
      refusal: refusal ?? null,
      bytes,
      objects: objects.map(({ key, size }) => ({ key, size })),
    }));
    printJson(terminal, {
      applications,
      abandoned_uploads: abandonedUploads,
    });
    return code;
  }
  const where = context.place.text;
  if (results.length === 0) print(terminal, `No application is published in ${where} yet.`);
  for (const { application, objects, bytes, refusal } of results) {
    if (refusal !== undefined) {
      print(terminal, `${application} in ${where}: ${refusal}`);
      continue;
    }
    print(
      terminal,
      `${application} in ${where}: ${counted(objects.length, 'unused file')} (${formatBytes(bytes)}) removed.`,
    );
    for (const { key, size } of objects) print(terminal, `  ${key}  ${formatBytes(size)}`);
  }
  if (abandonedUploads > 0)
    print(terminal, `${counted(abandonedUploads, 'interrupted upload')} removed.`);
  return code;
}
