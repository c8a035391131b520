import { stat } from 'node:fs/promises';
import { PRIVATE_ROOTS } from '../../../src/app/key-roots.ts';
import { objectsDirectory } from '../../../src/app/stores.ts';
import { diagnose } from '../../../src/operations/diagnose.ts';
import { openContext } from '../context.ts';
import { EXIT } from '../exit-code.ts';
import { alignColumns, printJson } from '../output.ts';
import { print, type Terminal } from '../terminal.ts';

const FETCH_TIMEOUT_MS = 10_000;

export async function doctor(terminal: Terminal, options: { json: boolean }): Promise<number> {
  const context = await openContext(terminal, { mayBeNew: true });
  const isBucket = context.config.store.kind === 's3';
  const checks = await diagnose({
    ...context,
    probe: async () => {
      await context.ensureConforming({ fresh: true });
      return 'Of 32 writers at the same moment exactly one creates a key.';
    },
    privateRoots: PRIVATE_ROOTS,
    fetchStatus: isBucket ? fetchStatus : undefined,
    isOpenToUsers: isBucket ? undefined : () => isOpenToUsers(objectsDirectory(context.config)),
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

/** On Windows Node reports all permission bits as set: access lists count there, which this cannot read. */
async function isOpenToUsers(directory: string): Promise<boolean> {
  if (process.platform === 'win32') return false;
  const found = await stat(directory).catch(() => undefined);
  // The store creates a missing directory for its owner alone.
  return found !== undefined && (found.mode & 0o077) !== 0;
}

async function fetchStatus(url: string): Promise<number> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(FETCH_TIMEOUT_MS) });
    await response.arrayBuffer();
    return response.status;
  } catch {
    // No answer at all: the check says what that means.
    return 0;
  }
}
