import { Readable } from 'node:stream';
import { type Command, CommanderError } from 'commander';
import { AppError, isAppError } from '../core/errors.ts';
import { changesReleases } from './arguments.ts';
import { createProgram, sessionOf } from './program.ts';
import type { AddCommands, Runner } from './runner.ts';
import type { Terminal, Trial } from './terminal.ts';
import { createTextSink } from './text-sink.ts';

interface TryDeps {
  readonly terminal: Terminal;
  /** The commands that a line may name. */
  readonly commands: readonly AddCommands[];
}

/**
 * Tries a proposed change: runs the command that would make it, on a store that keeps all writes in memory. The output
 * of the command is dropped.
 *
 * @param line a command without the program's name: `rollout 1.5.0 25%`
 * @throws AppError `invalid_request` unless the line is a command that changes releases; when the command refuses the
 *   change, the code and the message of this refusal
 */
export async function tryChange(
  { terminal, commands }: TryDeps,
  trial: Trial,
  line: string,
): Promise<void> {
  const stdout = createTextSink();
  const stderr = createTextSink();
  // Without a terminal, no command asks a question.
  const quiet: Terminal = {
    facts: terminal.facts,
    environment: terminal.environment,
    stdin: Readable.from([]),
    stdout: stdout.stream,
    stderr: stderr.stream,
  };
  const run: Runner =
    (load) =>
    async (...given) => {
      const command = given.at(-1) as Command;
      refuseOther(command, trial, line);
      const handler = (await load()) as (...all: unknown[]) => Promise<unknown>;
      const session = { ...sessionOf(command), isDryRun: true, trial };
      await handler({ ...quiet, session }, ...given);
    };
  try {
    await createProgram(quiet, run, commands).parseAsync(splitWords(line), { from: 'user' });
  } catch (error) {
    throw refusalOf(error, line, stderr.text());
  }
}

const EXAMPLES = 'Give --with a command such as "rollout 1.5.0 25%" or "yank 1.4.0".';

/** @throws AppError `invalid_request` for a command that changes no releases, or the releases of another application */
function refuseOther(command: Command, { application }: Trial, line: string): void {
  const { app } = command.opts<{ app?: string }>();
  if (!changesReleases(command)) {
    throw new AppError(
      'invalid_request',
      `The command "${command.name()}" changes no release. ${EXAMPLES}`,
    );
  }
  if (app === undefined || app === application) return;
  throw new AppError(
    'invalid_request',
    `${JSON.stringify(line)} changes ${app}, and the simulation is about ${application}. Leave out --app there.`,
  );
}

function refusalOf(error: unknown, line: string, printed: string): unknown {
  const quoted = `--with ${JSON.stringify(line)}`;
  if (error instanceof CommanderError) {
    const why =
      /^error: (.*)$/m.exec(printed)?.[1] ??
      `it is not a command that changes releases. ${EXAMPLES}`;
    return new AppError('invalid_request', `${quoted} cannot be simulated: ${why}`, {
      cause: error,
    });
  }
  if (!isAppError(error)) return error;
  const { issues } = error;
  return new AppError(error.code, `${quoted} is refused: ${error.message}`, {
    cause: error,
    ...(issues === undefined ? {} : { issues }),
  });
}

/** A word, or a part of a word: in quotes of either kind, escaped, or bare. */
const PART = /"((?:[^"\\]|\\.)*)"|'([^']*)'|\\(.)|([^\s"'\\]+)/gsy;

/**
 * Splits a line into words as a POSIX shell does, with quotes and backslashes. It expands nothing.
 *
 * @throws AppError `invalid_request` for a quote that is not closed
 */
export function splitWords(line: string): readonly string[] {
  const words: string[] = [];
  let isInside = false;
  for (let at = 0; at < line.length; ) {
    if (/\s/.test(line.charAt(at))) {
      isInside = false;
      at++;
      continue;
    }
    PART.lastIndex = at;
    const match = PART.exec(line);
    if (match === null) {
      throw new AppError(
        'invalid_request',
        `${JSON.stringify(line)} has a quotation mark that is not closed, or ends with a backslash. Close it.`,
      );
    }
    const [whole, double, single, escaped, bare] = match;
    // Within double quotes, a backslash escapes only these characters.
    const part = double?.replace(/\\(["\\$`])/g, '$1') ?? single ?? escaped ?? bare ?? '';
    if (isInside) words.push((words.pop() ?? '') + part);
    else words.push(part);
    isInside = true;
    at += whole.length;
  }
  return words;
}
