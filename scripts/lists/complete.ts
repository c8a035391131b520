import { addAccountCommands } from '../cli/account-commands.ts';
import { addConsoleCommand } from '../cli/console-command.ts';
import { addDemoCommand } from '../cli/demo-command.ts';
import type { Edition } from '../cli/edition.ts';
import { addExportCommand } from '../cli/export-command.ts';
import type { AddCommands } from '../cli/runner.ts';
import { addServeCommand } from '../cli/serve-command.ts';
import { FIRST_COMMANDS, LAST_COMMANDS, ROLES } from './publisher.ts';

/**
 * The commands that need parts of the service: its HTTP server, or the hashing of passwords. The publisher in one file
 * leaves them out, and says how to get them.
 */
export const SERVICE_COMMANDS: readonly AddCommands[] = [
  addExportCommand,
  addServeCommand,
  addDemoCommand,
  addConsoleCommand,
  addAccountCommands,
];

/** The complete package. */
export const COMPLETE: Edition = {
  commands: [...FIRST_COMMANDS, ...SERVICE_COMMANDS, ...LAST_COMMANDS],
  leftOut: [],
  roles: {
    ...ROLES,
    diagnose: async () => (await import('../cli/diagnose-deps.ts')).diagnoseStore,
  },
};
