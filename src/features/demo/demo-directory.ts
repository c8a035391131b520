import path from 'node:path';
import type { Environment } from '../../cli/facts.ts';

/**
 * The directory of a demo: DATA_DIR; without it, `data/NAME`.
 *
 * `npm run demo` starts in the directory of the package. A relative DATA_DIR starts at the directory in which the user
 * called npm; npm states this directory in INIT_CWD.
 */
export function demoDirectory({ DATA_DIR, INIT_CWD = '' }: Environment, name: string): string {
  const given = DATA_DIR?.trim() ?? '';
  return given === '' ? path.resolve('data', name) : path.resolve(INIT_CWD, given);
}
