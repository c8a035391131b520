import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Command, CommanderError } from 'commander';
import { isAppError } from '../../src/errors.ts';
import { addAccountCommands } from './account-commands.ts';
import { addContactCommands } from './contact-commands.ts';
import { addInspectCommands } from './inspect-commands.ts';
import { addMaintainCommands } from './maintain-commands.ts';
import { EXIT, exitCodeOf, printableText } from './output.ts';
import { addPublishCommands } from './publish-commands.ts';
import type { Terminal } from './terminal.ts';

/** The release engineer's command line: argument parsing over the operations, and nothing else. */

/** Runs one command to its end; resolves to its exit code, and never rejects. */
export async function runCommandLine(argv: readonly string[], terminal: Terminal): Promise<number> {
  let code: number = EXIT.done;
  const program = createProgram(terminal);
  const run: Runner =
    (load) =>
    async (...given) => {
      const handler = (await load()) as (...all: unknown[]) => ReturnType<Handler>;
      code = (await handler(terminal, ...given)) ?? EXIT.done;
    };
  addPublishCommands(program, run);
  addInspectCommands(program, run);
  addMaintainCommands(program, run);
  addContactCommands(program, run);
  addAccountCommands(program, run);
  inherit(program, program);
  try {
    await program.parseAsync(argv, { from: 'user' });
    return code;
  } catch (error) {
    return reportFailure(terminal, error, argv.includes('--json'));
  }
}

/** What a command does, given its arguments and options; resolves to its exit code unless that is 0. */
// biome-ignore lint/suspicious/noConfusingVoidType: most commands return nothing at all
type Handler = (terminal: Terminal, ...given: never[]) => Promise<number | void>;

/** Makes an action of a handler that is loaded only when its command runs: `--help` loads none. */
export type Runner = (load: () => Promise<Handler>) => (...given: unknown[]) => Promise<void>;

function createProgram({ stdout, stderr }: Terminal): Command {
  return new Command('slipway')
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
    .configureOutput({
      writeOut: (text) => void stdout.write(text),
      writeErr: (text) => void stderr.write(text),
    })
    .exitOverride();
}

/** Errors leave every command, however deep, in the same way. */
function inherit(program: Command, parent: Command): void {
  for (const command of parent.commands) {
    command.exitOverride().copyInheritedSettings(program);
    inherit(program, command);
  }
}

/** Prints why a command ended and returns its exit code. */
function reportFailure({ stderr }: Terminal, error: unknown, json: boolean): number {
  // Commander has printed its own sentence.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
  if (!isAppError(error)) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    stderr.write(`${text}\n`);
    return EXIT.failed;
  }
  const { code, message, issues } = error;
  const text = json
    ? JSON.stringify({ error: { code, message, issues } })
    : printableText(`slipway: ${message}`);
  stderr.write(`${text}\n`);
  return exitCodeOf(error);
}

/** From the package's manifest: two folders up from the source, three from what is compiled. */
function readVersion(): string {
  const files = ['../..', '../../..'].map((up) =>
    path.join(import.meta.dirname, up, 'package.json'),
  );
  const file = files.find(existsSync);
  return file === undefined ? 'unknown' : JSON.parse(readFileSync(file, 'utf8')).version;
}
