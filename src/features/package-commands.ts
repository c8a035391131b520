import type { Edition } from '../cli/command-line.ts';
import type { AddCommands } from '../cli/runner.ts';
import { addServeCommand } from '../cli/serve/commands.ts';
import type { OpenService } from '../server/opened-service.ts';
import { addAccountCommands } from './accounts/commands.ts';
import { addConsoleCommand } from './console/commands.ts';
import { addDemoCommand } from './demo/commands.ts';
import { addExportCommand } from './export/commands.ts';
import { FIRST_COMMANDS, LAST_COMMANDS, ROLES } from './publisher-commands.ts';

/** Loads the service, for the commands that run it. */
const loadService = async (): Promise<OpenService> => (await import('../app.ts')).openService;

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
    diagnose: async () => (await import('./doctor/diagnose-deps.ts')).diagnoseStore,
  },
};
