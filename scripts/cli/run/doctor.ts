import { stat } from 'node:fs/promises';
import { objectsDirectory } from '../../../src/app/stores.ts';
import { diagnose } from '../../../src/operations/diagnose.ts';
import { openContext } from '../context.ts';
import { alignColumns, EXIT, printJson } from '../output.ts';
import { print, type Terminal } from '../terminal.ts';

const FETCH_TIMEOUT_MS = 10_000;

export async function doctor(terminal: Terminal, options: { json: boolean }): Promise<number> {
  const context = await openContext(terminal, { mayBeNew: true });
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
        : () => isOpenToUsers(objectsDirectory(context.config)),
  });
  if (options.json) printJson(terminal, { checks });
  else {
    print(terminal, `The store is ${context.place.text}.`);
    for (const line of alignColumns(
      checks.map(({ outcome, name, detail }) => [outcome, name, detail]),
    )) {
      print(terminal, line);
    }
  }
  return checks.some(({ outcome }) => outcome === 'failed') ? EXIT.failed : EXIT.done;
}

/** Windows has no such bits and reports them all as set: its own permissions count there. */
async function isOpenToUsers(directory: string): Promise<boolean> {
  if (process.platform === 'win32') return false;
  const found = await stat(directory).catch(() => undefined);
  // One that is not there yet will be its owner's alone.
  return found !== undefined && (found.mode & 0o077) !== 0;
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
