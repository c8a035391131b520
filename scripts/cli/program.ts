import { Command, Help } from 'commander';
import { readVersion } from '../../src/system.ts';
import { addAppCommands } from './app-commands.ts';
import { RepeatableOption } from './arguments.ts';
import { addChannelCommands } from './channel-commands.ts';
import { addCompletionCommand } from './completion-command.ts';
import { addContactCommands } from './contact-commands.ts';
import { addServiceCommands } from './edition.ts';
import { addExplainCommands } from './explain-commands.ts';
import { addFeedsCommand } from './feeds-commands.ts';
import { addImportCommand } from './import-command.ts';
import { addInitCommand } from './init-command.ts';
import { addInspectCommands } from './inspect-commands.ts';
import { addMaintainCommands } from './maintain-commands.ts';
import { addPublishCommands } from './publish-commands.ts';
import type { Runner } from './runner.ts';
import { addSimulateCommand } from './simulate-commands.ts';
import { addStatsCommand } from './stats-commands.ts';
import type { Terminal } from './terminal.ts';
import { addWithdrawCommands } from './withdraw-commands.ts';

/** Creates all commands with their options and help. The code of a command is loaded when it runs. */
export function createProgram(terminal: Terminal, run: Runner): Command {
  const program = createRoot(terminal);
  addInitCommand(program, run);
  addPublishCommands(program, run);
  addImportCommand(program, run);
  addWithdrawCommands(program, run);
  addInspectCommands(program, run);
  addFeedsCommand(program, run);
  addExplainCommands(program, run);
  addStatsCommand(program, run);
  addSimulateCommand(program, run);
  addAppCommands(program, run);
  addChannelCommands(program, run);
  addMaintainCommands(program, run);
  addServiceCommands(program, run);
  addContactCommands(program, run);
  addCompletionCommand(program, run);
  inherit(program, program);
  return program;
}

function createRoot({ stdout, stderr }: Terminal): Command {
  return (
    new Command('slipway')
      .version(readVersion(), '-v, --version', 'print the version')
      // The --version of a command is that of a client.
      .enablePositionalOptions()
      .description(
        'Publishes desktop releases to an object store, and manages what is stored there.',
      )
      .addHelpText(
        'after',
        `
Settings are environment variables, also from a .env file: OBJECT_STORE, DATA_DIR, S3_BUCKET and more; docs/operations/settings.md in Slipway's repository lists them.
Exit codes: 0 done, 1 failed, 2 wrong usage or settings, 3 refused (nothing changed), 4 outcome unknown (run the command again), 130 interrupted.

Examples:
  slipway publish 1.4.0 dist --create
  slipway yank 1.4.0 --dry-run
  slipway help publish`,
      )
      .showHelpAfterError('(add --help for the options)')
      .configureHelp({
        // Leaves out "(default: false)" of switches.
        optionDescription: (option) =>
          option.defaultValue === false
            ? option.description
            : Help.prototype.optionDescription(option),
      })
      .configureOutput({
        writeOut: (text) => void stdout.write(text),
        writeErr: (text) => void stderr.write(text),
        outputError: (text, write) => write(`${text}${hintFor(text)}`),
      })
      .exitOverride()
  );
}

/** A hint for arguments that should be options. */
function hintFor(error: string): string {
  if (error.startsWith("error: too many arguments for 'list'")) {
    return 'A list takes no names. "slipway help channels" and "slipway help accounts" list the commands.\n';
  }
  return error.startsWith('error: too many arguments')
    ? 'Names are options: --channel NAME, --app NAME. For one release: slipway show VERSION.\n'
    : '';
}

/** Gives subcommands the settings of the program, so that their errors are handled alike. */
function inherit(program: Command, parent: Command): void {
  for (const command of parent.commands) {
    command.exitOverride().copyInheritedSettings(program);
    refuseRepeated(command);
    inherit(program, command);
  }
}

/** Refuses a second value for an option: Commander would drop the first without a message. */
function refuseRepeated(command: Command): void {
  for (const option of command.options) {
    if (!option.required || option instanceof RepeatableOption) continue;
    let isGiven = false;
    command.on(`option:${option.name()}`, () => {
      if (isGiven) command.error(`error: option '${option.flags}' is given twice; give it once`);
      isGiven = true;
    });
  }
}
