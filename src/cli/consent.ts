import { createInterface } from 'node:readline/promises';
import type { ChangeKind } from '../catalog/documents/revision-document.ts';
import { AppError, type ErrorCode, isAppError } from '../core/errors.ts';
import type { ChannelStates } from '../releases/forecast/compare-channels.ts';
import { foreseeUnserved, unservedSentence } from '../releases/forecast/foresee-unserved.ts';
import { printableText } from './output.ts';
import type { Terminal } from './terminal.ts';

/** Refusals that the operator may overrule, each with the option that overrules it without a question. */
const OPTIONS: Partial<Readonly<Record<ErrorCode, ConsentOption>>> = {
  older_version: 'allowOlder',
  clients_stranded: 'allowStranded',
  release_incomplete: 'releasePartial',
};

type ConsentOption = 'allowOlder' | 'allowStranded' | 'releasePartial';
type Overruled = Partial<Record<ConsentOption, boolean>>;

/**
 * Runs an operation that the operator may have to confirm. On a terminal it shows the refusal and asks; after a yes it
 * runs the operation again with the option. Without a terminal, it throws the refusal, and the message names the
 * option.
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
      if (!isAppError(error)) throw error;
      const option = OPTIONS[error.code];
      if (option === undefined || overruled[option] || !isInteractive(terminal)) throw error;
      if (!(await confirm(terminal, error.message))) throw error;
      if (terminal.session !== undefined) terminal.session.hasConsented = true;
      overruled = { ...overruled, [option]: true };
    }
  }
}

/**
 * Asks the operator at a terminal before a change that cannot be undone, or that reaches many clients. Asks nothing for
 * a dry run, nothing where no operator can answer, and nothing when the operator has agreed already: with `--yes`, or
 * to another question of this command.
 *
 * @param question the question, or a function that prepares it; when the function returns undefined, there is nothing
 *   to ask
 * @throws AppError `status_forbids` when the answer is not yes
 */
export async function requireConsent(
  terminal: Terminal,
  question: string | (() => Promise<string | undefined>),
): Promise<void> {
  const { session } = terminal;
  if (session?.isDryRun === true || session?.hasConsented === true) return;
  if (!isInteractive(terminal)) return;
  const text = typeof question === 'string' ? question : await question();
  if (text === undefined) return;
  if (!(await confirm(terminal, text))) throw notConfirmed();
  if (session !== undefined) session.hasConsented = true;
}

/** Changes that stop a release. A script must be able to make these changes at night, so it gets only a warning. */
const STOPPING: ReadonlySet<ChangeKind> = new Set(['pause', 'yank', 'rollback', 'rollout']);

/**
 * Asks before a change after which a channel has no release for new visitors, on all platforms or on one platform.
 * Without a terminal, refuses a change that concerns all platforms, unless the change stops a release; for other
 * changes, prints a warning. `--yes` answers the question.
 *
 * @param now the time by the store's clock
 * @throws AppError `status_forbids`
 */
export async function askAboutVisitors(
  terminal: Terminal,
  kind: ChangeKind,
  states: ChannelStates,
  now: number,
): Promise<void> {
  const { session } = terminal;
  if (session === undefined || session.isDryRun === true || session.acceptsUnserved) return;
  const unserved = foreseeUnserved(states, now);
  if (unserved.length === 0) return;
  const warning = `After this change: ${unserved.map(unservedSentence).join(' ')}`;
  if (isInteractive(terminal)) {
    if (!(await confirm(terminal, warning))) throw notConfirmed();
  } else if (STOPPING.has(kind) || unserved.every(({ platform }) => platform !== null)) {
    terminal.stderr.write(`${printableText(`slipway: ${warning}`)}\n`);
  } else {
    const why = `${warning} Nothing was changed. To make the change all the same, add --yes.`;
    throw new AppError('status_forbids', why);
  }
  session.acceptsUnserved = true;
}

function notConfirmed(): AppError {
  return new AppError('status_forbids', 'You did not answer "y": nothing was changed.');
}

/** True when an operator can answer: a script must never wait for an answer. */
export function isInteractive({ stdin, stderr, session }: Terminal): boolean {
  return stdin.isTTY === true && stderr.isTTY === true && session?.printsJson !== true;
}

async function confirm({ stdin, stderr }: Terminal, question: string): Promise<boolean> {
  stderr.write(`${printableText(question)}\nContinue? [y/N] `);
  const input = createInterface({ input: stdin });
  try {
    for await (const line of input) return /^y(es)?$/i.test(line.trim());
  } finally {
    input.close();
  }
  return false;
}
