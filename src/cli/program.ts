import { Command, Help } from 'commander';
import { readVersion } from '../core/system.ts';
import { type ChangeOptions, type ConsentOptions, RepeatableOption } from './arguments.ts';
import type { AddCommands, Runner } from './runner.ts';
import type { Session, Terminal } from './terminal.ts';

/**
 * Creates all commands with their options and help. The code of a command is loaded when it runs.
 *
 * @param commands in the order of the help
 */
export function createProgram(
  terminal: Pick<Terminal, 'stdout' | 'stderr'>,
  run: Runner,
  commands: readonly AddCommands[],
): Command {
  const program = createRoot(terminal);
  for (const add of commands) add(program, run);
  inherit(program, program);
  return program;
}

function createRoot({ stdout, stderr }: Pick<Terminal, 'stdout' | 'stderr'>): Command {
  return (
    new Command('slipway')
      .version(readVersion(), '-v, --version', 'print the version')
      // Some commands have an option --version of their own: the version of a client.
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

/**
 * Creates the session of a command from its options. No handler reads these options itself, so no handler can forget
 * one.
 */
export function sessionOf(command: Command): Session {
  const options =
    command.opts<
      Partial<ChangeOptions & ConsentOptions & { app: string; key: readonly string[] }>
    >();
  const { skipCorrupt = [], dryRun, json = false, yes = false, app: application } = options;
  const { key: keys } = options;
  const flags = { isDryRun: dryRun, printsJson: json, hasConsented: yes, acceptsUnserved: yes };
  return { skipCorrupt, keys, ...flags, application, place: undefined };
}
