import { randomUUID } from 'node:crypto';
import { accessSync, constants, statSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
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
