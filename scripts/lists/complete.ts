import type { Edition } from '../../src/cli/edition.ts';
import type { AddCommands } from '../../src/cli/runner.ts';
import { addServeCommand } from '../../src/cli/serve/commands.ts';
import type { OpenService } from '../../src/server/opened-service.ts';
import { addAccountCommands } from '../cli/account-commands.ts';
import { addConsoleCommand } from '../cli/console-command.ts';
import { addDemoCommand } from '../cli/demo-command.ts';
import { addExportCommand } from '../cli/export-command.ts';
import { FIRST_COMMANDS, LAST_COMMANDS, ROLES } from './publisher.ts';

/** Only the commands that run the service load it. */
const loadService = async (): Promise<OpenService> =>
  (await import('../../src/app.ts')).openService;

/**
 * The commands that need parts of the service: its HTTP server, or the hashing of passwords. The publisher in one file
 * leaves them out, and says how to get them.
 */
export const SERVICE_COMMANDS: readonly AddCommands[] = [
  (program, run) => addExportCommand(program, run, loadService),
  addServeCommand,
  (program, run) => addDemoCommand(program, run, loadService),
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
