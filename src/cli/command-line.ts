import { type Command, CommanderError } from 'commander';
import { AppError, isAppError } from '../core/errors.ts';
import { readVersion } from '../core/system.ts';
import { EXIT, exitCodeOf } from './exit-code.ts';
import { printableText } from './output.ts';
import { createProgram, sessionOf } from './program.ts';
import type { AddCommands, Handler, Runner } from './runner.ts';
import { namesCommand, type Roles, type Session, type Terminal, type Trial } from './terminal.ts';
import { tryChange } from './try-change.ts';

/** The command line: it parses arguments, runs an operation and reports its result. */

/** A program: the complete package, or the publisher in one file. */
export interface Edition {
  /** The commands in the order of the help. */
  readonly commands: readonly AddCommands[];
  /** The names of the commands that only the complete package has. */
  readonly leftOut: readonly string[];
  /** The roles that each command gets in its terminal. */
  readonly roles: Roles;
}

/** Runs a command. Resolves to its exit code, and never rejects. */
export async function runCommandLine(
  argv: readonly string[],
  terminal: Terminal,
  { commands, leftOut }: Pick<Edition, 'commands' | 'leftOut'>,
): Promise<number> {
  let code: number = EXIT.done;
  let session: Session | undefined;
  const run: Runner =
    (load) =>
    async (...given) => {
      const handler = (await load()) as (...all: unknown[]) => ReturnType<Handler>;
      session = sessionOf(given.at(-1) as Command);
      terminal.onStart?.(session);
      const tried = (trial: Trial, line: string) => tryChange({ terminal, commands }, trial, line);
      code = (await handler({ ...terminal, session, tryChange: tried }, ...given)) ?? EXIT.done;
      const hint = session.namesCommand === true ? applicationHint(session) : undefined;
      if (hint !== undefined) terminal.stdout.write(`${hint}\n`);
    };
  try {
    refuseLeftOut(argv, leftOut);
    const program = createProgram(terminal, run, commands);
    await program.parseAsync(withWholeTopic(program, argv), { from: 'user' });
    return code;
  } catch (error) {
    return reportFailure(terminal, error, argv, session);
  }
}

/**
 * @throws AppError `invalid_request` for a command that only the complete package has, and for the help of such a
 *   command
 */
function refuseLeftOut([first, topic]: readonly string[], leftOut: Edition['leftOut']): void {
  const name = first === 'help' ? topic : first;
  if (name === undefined || !leftOut.includes(name)) return;
  throw new AppError(
    'invalid_request',
    `The command "${name}" is in the complete package and not in this file. Run "npx slipway ${name} …", or "npm run slipway -- ${name} …" in a checkout.`,
  );
}

/**
 * Gives `help trust init` the help of this command: Commander would print the help of the group. Refuses `help ynak`, for
 * which Commander would print the whole help.
 */
function withWholeTopic(program: Command, argv: readonly string[]): readonly string[] {
  const [first, ...topics] = argv;
  if (first !== 'help' || topics.length === 0 || topics.some((word) => word.startsWith('-'))) {
    return argv;
  }
  let group = program;
  for (const topic of topics) {
    const command = group.commands.find((each) => each.name() === topic);
    if (command === undefined) {
      const names = group.commands.map((each) => each.name()).join(', ');
      program.error(`error: unknown command '${topic}'. Commands: ${names}.`);
    }
    group = command;
  }
  return [...topics, '--help'];
}

/**
 * Tells the operator to add `--app` to the commands that the output names: a command without `--app` would change the
 * default application.
 */
function applicationHint(session: Session | undefined): string | undefined {
  if (session === undefined || session.printsJson) return undefined;
  const { application, defaultApplication } = session;
  if (application === undefined || application === defaultApplication) return undefined;
  return `Add --app ${application} to the commands that are named here.`;
}

/**
 * Says that a failed command changed nothing. A refusal needs no such sentence: its exit code says that nothing
 * changed.
 */
function unchanged(error: unknown): readonly string[] {
  if (!isAppError(error) || exitCodeOf(error) !== EXIT.failed) return [];
  return [
    'Nothing was changed: clients are still offered what they were offered before.',
    ...(error.kind === 'unavailable' && error.code !== 'signer_failed'
      ? ['Run the command again when the store answers.']
      : []),
  ];
}

/** Prints why a command failed and returns its exit code. */
async function reportFailure(
  { stderr }: Terminal,
  error: unknown,
  argv: readonly string[],
  session: Session | undefined,
): Promise<number> {
  // Commander has printed its own message.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
  const { sentenceOf } = await import('./failure.ts');
  const place = session?.place;
  const message = [
    sentenceOf(error, readVersion(), argv),
    ...(session?.hasWritten === false ? unchanged(error) : []),
  ].join(' ');
  const { code, issues } = isAppError(error) ? error : new AppError('internal', message);
  if (argv.includes('--json')) {
    const store = place === undefined ? {} : { store: place.name };
    stderr.write(`${JSON.stringify({ error: { code, message, issues }, ...store })}\n`);
  } else {
    const isNamed = place === undefined || message.includes(place.text);
    const where = session?.lacksStore
      ? `There is no store in ${place?.text} yet.`
      : `The store is ${place?.text}.`;
    const hint = namesCommand(message) ? applicationHint(session) : undefined;
    const lines = [`slipway: ${message}`];
    if (!isNamed) lines.push(where);
    if (hint !== undefined) lines.push(hint);
    stderr.write(`${printableText(lines.join('\n'))}\n`);
  }
  return isAppError(error) ? exitCodeOf(error) : EXIT.failed;
}
