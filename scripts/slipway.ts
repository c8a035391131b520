#!/usr/bin/env node
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Command } from 'commander';
import { addAccountCommands } from './cli/account-commands.ts';
import { addContactCommands } from './cli/contact-commands.ts';
import { addInspectCommands } from './cli/inspect-commands.ts';
import { addMaintainCommands } from './cli/maintain-commands.ts';
import { reportFailure } from './cli/output.ts';
import { addPublishCommands } from './cli/publish-commands.ts';

/** The release engineer's command line: argument parsing over the operations, and nothing else. */

const program = new Command('slipway')
  .version(readVersion(), '--version', 'print the version')
  .description(
    'Publish desktop releases to an object store, and look after them, and after accounts and messages.',
  )
  .addHelpText(
    'after',
    `
Settings come from the environment (or a .env file): OBJECT_STORE, DATA_DIR, S3_BUCKET, … — see the README.
Exit codes: 0 done, 1 failed, 2 wrong usage, 3 refused (nothing changed), 4 outcome unknown (run it again).`,
  )
  .showHelpAfterError('(add --help for the options)')
  .configureHelp({ showGlobalOptions: true })
  .exitOverride();

addPublishCommands(program);
addInspectCommands(program);
addMaintainCommands(program);
addContactCommands(program);
addAccountCommands(program);
inherit(program);

try {
  await program.parseAsync();
} catch (error) {
  process.exitCode = reportFailure(error, process.argv.includes('--json'));
}

/** Errors leave every command, however deep, in the same way. */
function inherit(parent: Command): void {
  for (const command of parent.commands) {
    command.exitOverride().copyInheritedSettings(program);
    inherit(command);
  }
}

/** From the package's manifest: one folder up from the source, two from what is compiled. */
function readVersion(): string {
  const files = ['..', '../..'].map((up) => path.join(import.meta.dirname, up, 'package.json'));
  const file = files.find(existsSync);
  return file === undefined ? 'unknown' : JSON.parse(readFileSync(file, 'utf8')).version;
}
