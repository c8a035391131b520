import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * Measures how long a turn of the event loop of a service takes, in processor time of its main thread. Elapsed time says
 * little: on a shared machine, even an idle server waits for tens of milliseconds.
 *
 * A turn is one round of the event loop: everything that a client may have to wait for. It includes what Node itself
 * does in this thread, such as the collection of garbage.
 */

export const FILE_VARIABLE = 'LONGEST_TURN_FILE';
export const ABOVE_MS_VARIABLE = 'LONGEST_TURN_ABOVE_MS';

export interface Turn {
  /** The processor time of the turn, in milliseconds. */
  readonly ms: number;
  /** Milliseconds since the Unix epoch. */
  readonly endedAt: number;
}

/**
 * The options and variables of a Node process that shall write its long turns to a file.
 *
 * @param aboveMs the process writes only turns that take at least this long
 */
export function measuringTurns(file: string, aboveMs = 1) {
  const preloaded = fileURLToPath(new URL('longest-turn-process.ts', import.meta.url));
  return {
    flags: ['--disable-warning=ExperimentalWarning', '--import', preloaded],
    env: { [FILE_VARIABLE]: file, [ABOVE_MS_VARIABLE]: String(aboveMs) },
  };
}

/** The turns in the file that ended since a time; the longest first. */
export function longestTurns(file: string, since = 0): readonly Turn[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
  const turns = lines.map((line): Turn => JSON.parse(line)).filter((turn) => turn.endedAt >= since);
  return turns.sort((a, b) => b.ms - a.ms);
}
