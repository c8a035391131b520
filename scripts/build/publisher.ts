import { FIRST_COMMANDS, LAST_COMMANDS, ROLES } from '../../src/features/publisher-commands.ts';
import { startCommandLine } from '../start.ts';

/** The entry point of the publisher in one file. */

/**
 * The names of the commands that this file leaves out, separated by spaces. The build defines this constant: see
 * `one-file.ts`.
 */
declare const SLIPWAY_LEFT_OUT: string;

startCommandLine({
  commands: [...FIRST_COMMANDS, ...LAST_COMMANDS],
  leftOut: SLIPWAY_LEFT_OUT.split(' '),
  roles: ROLES,
});
