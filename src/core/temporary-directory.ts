import { rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ownDirectory } from './directory-owner.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export interface TemporaryDirectory {
  readonly path: string;
  /** Never fails: a file that stays in the system's temporary directory must not fail a command that did its work. */
  remove(): Promise<void>;
}

/**
 * Creates a directory that is removed also when a signal such as Ctrl-C ends the process. No process notices SIGKILL or a
 * power cut, so the directory has an owner: see `directory-owner.ts`.
 *
 * @param onSignal ends the work in the directory before it is removed
 * @throws the system's error when the directory cannot be created
 */
export async function createTemporaryDirectory(
  prefix: string,
  onSignal: () => void = () => {},
): Promise<TemporaryDirectory> {
  const directory = await mkdtemp(path.join(tmpdir(), prefix));
  const release = await ownDirectory(directory);
  const forget = (): void => {
    for (const signal of SIGNALS) process.removeListener(signal, end);
  };
  const end = (signal: NodeJS.Signals): void => {
    forget();
    try {
      onSignal();
      rmSync(directory, { recursive: true, force: true, maxRetries: 2 });
    } catch {
      // The directory stays. The signal must end the process all the same.
    }
    // Without the listener, the signal ends the process as usual.
    process.kill(process.pid, signal);
  };
  for (const signal of SIGNALS) process.once(signal, end);
  return {
    path: directory,
    remove: async () => {
      forget();
      await rm(directory, { recursive: true, force: true, maxRetries: 2 }).catch(() => {});
      release();
    },
  };
}
