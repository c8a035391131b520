import { randomUUID } from 'node:crypto';
import { accessSync, constants, existsSync, readFileSync, statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { getHeapStatistics } from 'node:v8';
import type { Clock, Randomness } from './clock.ts';
import { AppError } from './errors.ts';

/** The real clock and randomness. Only entry points import this file; other code receives both as parameters. */

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) => setTimeout(ms, undefined, signal === undefined ? {} : { signal }),
};

export const systemRandomness: Randomness = {
  fraction: () => Math.random(),
  id: () => randomUUID(),
};

/** The limits that the operating system and Node set for this process. */
export interface ProcessLimits {
  /** Open files and sockets; infinite where there is no such limit (Windows). */
  readonly descriptors: number;
  readonly heapBytes: number;
}

export function readProcessLimits(): ProcessLimits {
  // Without this setting, the report resolves the host names of all connections.
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

/** The number of processors that this process may use. */
export function countProcessors(): number {
  return availableParallelism();
}

/**
 * The build of the publisher in one file (`scripts/build/one-file.ts`) sets this constant, because that file has no
 * package.json.
 */
declare const SLIPWAY_VERSION: string | undefined;

/** The version in package.json, which is one folder above the sources and two folders above the compiled files. */
export function readVersion(): string {
  if (typeof SLIPWAY_VERSION === 'string') return SLIPWAY_VERSION;
  const files = ['../..', '../../..'].map((up) =>
    path.join(import.meta.dirname, up, 'package.json'),
  );
  const file = files.find(existsSync);
  return file === undefined ? 'unknown' : JSON.parse(readFileSync(file, 'utf8')).version;
}

/** No `.env` file with settings is larger. */
const ENV_BYTES_MAX = 256 * 1024;

/** The environment, completed from a `.env` file in the working directory when there is one. */
export function readEnvironment(): Readonly<Record<string, string | undefined>> {
  // `.env` may be a directory: some virtual environments of Python have this name.
  const found = statSync('.env', { throwIfNoEntry: false });
  if (found?.isFile()) {
    if (found.size > ENV_BYTES_MAX) {
      throw new AppError(
        'invalid_configuration',
        `.env has ${found.size} bytes, and settings have at most ${ENV_BYTES_MAX}. Replace it, or run the command in another directory.`,
      );
    }
    // `loadEnvFile` reports a file without read permission as missing.
    accessSync('.env', constants.R_OK);
    process.loadEnvFile('.env');
  }
  return process.env;
}
