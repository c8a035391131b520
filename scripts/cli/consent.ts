import { createInterface } from 'node:readline/promises';
import { AppError, type ErrorCode, isAppError } from '../../src/errors.ts';
import { printableText } from './output.ts';
import type { Terminal } from './terminal.ts';

/** Refusals that a person may overrule, and the option that does so without a question. */
const OPTIONS = {
  older_version: 'allowOlder',
  clients_stranded: 'allowStranded',
} as const satisfies Partial<Record<ErrorCode, string>>;

type Overruled = Partial<Record<(typeof OPTIONS)[keyof typeof OPTIONS], boolean>>;

/**
 * Runs what may be refused for a person to decide. On a terminal it asks, and runs it again with the
 * option after a yes; anywhere else the refusal stands, which names the option.
 */
export async function runWithConsent<T>(
  terminal: Terminal,
  given: Overruled,
  run: (overruled: Overruled) => Promise<T>,
): Promise<T> {
  let overruled = given;
  for (;;) {
    try {
      return await run(overruled);
    } catch (error) {
      const option = isAppError(error) ? OPTIONS[error.code as keyof typeof OPTIONS] : undefined;
      if (option === undefined || overruled[option] || !isInteractive(terminal)) throw error;
      if (!(await confirm(terminal, (error as Error).message))) throw error;
      overruled = { ...overruled, [option]: true };
    }
  }
}

/**
 * Asks a person at a terminal before something that cannot be undone. Asks nothing for a dry run, and nothing
 * where no person can answer.
 *
 * @throws AppError `status_forbids` when the answer is not yes
 */
export async function requireConsent(terminal: Terminal, question: string): Promise<void> {
  if (terminal.session?.isDryRun === true || !isInteractive(terminal)) return;
  if (await confirm(terminal, question)) return;
  throw new AppError('status_forbids', 'You did not answer "y": nothing was changed.');
}

/** A script must never wait for an answer: both ends have to be a terminal. */
function isInteractive({ stdin, stderr, session }: Terminal): boolean {
  return stdin.isTTY === true && stderr.isTTY === true && session?.printsJson !== true;
}

async function confirm({ stdin, stderr }: Terminal, question: string): Promise<boolean> {
  stderr.write(`${printableText(question)}\nGo on? [y/N] `);
  const input = createInterface({ input: stdin });
  try {
    for await (const line of input) return /^y(es)?$/i.test(line.trim());
  } finally {
    input.close();
  }
  return false;
}
