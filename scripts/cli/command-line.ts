import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Command, CommanderError } from 'commander';
import { isAppError } from '../../src/errors.ts';
import { addAccountCommands } from './account-commands.ts';
import type { ChangeOptions } from './arguments.ts';
import { addContactCommands } from './contact-commands.ts';
import { addInspectCommands } from './inspect-commands.ts';
import { addMaintainCommands } from './maintain-commands.ts';
import { EXIT, exitCodeOf, printableText } from './output.ts';
import type { Place } from './place.ts';
import { addPublishCommands } from './publish-commands.ts';
import type { Session, Terminal } from './terminal.ts';

/** The release engineer's command line: argument parsing over the operations, and nothing else. */

/** Runs one command to its end; resolves to its exit code, and never rejects. */
export async function runCommandLine(argv: readonly string[], terminal: Terminal): Promise<number> {
  let code: number = EXIT.done;
  let session: Session | undefined;
  const program = createProgram(terminal);
  const run: Runner =
    (load) =>
    async (...given) => {
      const handler = (await load()) as (...all: unknown[]) => ReturnType<Handler>;
      session = sessionOf(given.at(-1) as Command);
      code = (await handler({ ...terminal, session }, ...given)) ?? EXIT.done;
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
    return reportFailure(terminal, error, {
      json: argv.includes('--json'),
      place: session?.place,
    });
  }
}

/** What a command does, given its arguments and options; resolves to its exit code unless that is 0. */
// biome-ignore lint/suspicious/noConfusingVoidType: most commands return nothing at all
type Handler = (terminal: Terminal, ...given: never[]) => Promise<number | void>;

/** What handlers need not pass on themselves, and so cannot forget. */
function sessionOf(command: Command): Session {
  const { skipCorrupt = [], dryRun, json = false } = command.opts<Partial<ChangeOptions>>();
  return { skipCorrupt, isDryRun: dryRun, printsJson: json, place: undefined };
}

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
Exit codes: 0 done, 1 failed, 2 wrong usage or settings, 3 refused (nothing changed), 4 outcome unknown (run it again).`,
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
function reportFailure(
  { stderr }: Terminal,
  error: unknown,
  { json, place }: { readonly json: boolean; readonly place: Place | undefined },
): number {
  // Commander has printed its own sentence.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
  if (!isAppError(error)) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    stderr.write(`${text}\n`);
    return EXIT.failed;
  }
  const { code, message, issues } = error;
  if (json) {
    const store = place === undefined ? {} : { store: place.name };
    stderr.write(`${JSON.stringify({ error: { code, message, issues }, ...store })}\n`);
  } else {
    const isNamed = place === undefined || message.includes(place.text);
    const where = isNamed ? '' : `\nThe store is ${place.text}.`;
    stderr.write(`${printableText(`slipway: ${message}${where}`)}\n`);
  }
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
