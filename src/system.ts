import { randomUUID } from 'node:crypto';
import { accessSync, constants, statSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { getHeapStatistics } from 'node:v8';
import type { Clock, Randomness } from './clock.ts';

/** The real clock and chance, for the programs' entry points; everything else is handed them. */

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) => setTimeout(ms, undefined, signal === undefined ? {} : { signal }),
};

export const systemRandomness: Randomness = {
  fraction: () => Math.random(),
  id: () => randomUUID(),
};

/** What the system lets this process use. */
export interface ProcessLimits {
  /** Open files and sockets; infinite where there is no such limit (Windows). */
  readonly descriptors: number;
  readonly heapBytes: number;
}

export function readProcessLimits(): ProcessLimits {
  // Without it, a report looks up the names of connections.
  (process.report as { excludeNetwork?: boolean }).excludeNetwork = true;
  const { userLimits } = process.report.getReport() as unknown as {
    userLimits?: { open_files?: { soft: number | 'unlimited' } };
  };
  const soft = userLimits?.open_files?.soft;
  return {
    descriptors: typeof soft === 'number' ? soft : Number.POSITIVE_INFINITY,
    heapBytes: getHeapStatistics().heap_size_limit,
  };
}

/** The environment, completed from a `.env` file in the working directory when there is one. */
export function readEnvironment(): Readonly<Record<string, string | undefined>> {
  // A directory of that name is a virtual environment of Python.
  if (statSync('.env', { throwIfNoEntry: false })?.isFile()) {
    // `loadEnvFile` says of a file that it may not read that there is none.
    accessSync('.env', constants.R_OK);
    process.loadEnvFile('.env');
  }
  return process.env;
}
