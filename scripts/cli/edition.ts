import type { Command } from 'commander';
import type { OpenService } from '../../src/app/opened-service.ts';
import { addAccountCommands } from './account-commands.ts';
import { addConsoleCommand } from './console-command.ts';
import { addExportCommand } from './export-command.ts';
import type { Runner } from './runner.ts';
import { addServeCommands } from './serve-commands.ts';

/**
 * What differs between the complete package and the publisher in one file. This is the complete package;
 * `scripts/build/one-file.ts` puts another module in the place of this one.
 */

/**
 * Adds the commands that need parts of the service: its HTTP server, or the hashing of passwords. The publisher in one
 * file leaves out the commands that are added here, and says how to get them.
 */
export function addServiceCommands(program: Command, run: Runner): void {
  addExportCommand(program, run, loadService);
  addServeCommands(program, run, loadService);
  addConsoleCommand(program, run);
  addAccountCommands(program, run);
}

/** Only the commands that run the service load it. */
const loadService = async (): Promise<OpenService> =>
  (await import('../../src/app.ts')).openService;

/** The names of the commands that this edition leaves out. */
export const leftOut: readonly string[] = [];
