import { createInterface } from 'node:readline/promises';
import { printableText } from '../../cli/output.ts';
import type { Terminal } from '../../cli/terminal.ts';
import { AppError } from '../../core/errors.ts';

/** Questions to the publisher at a terminal. Enter takes the default. */

export interface Question {
  readonly text: string;
  /** The answer that Enter gives; undefined: none. */
  readonly usual: string | undefined;
  /** Says why the answer cannot be used; undefined when it can. */
  readonly refuse: (answer: string) => string | undefined;
}

export interface Questions {
  /** Asks until the answer can be used. Resolves to undefined when the publisher gives no answer. */
  ask(question: Question): Promise<string | undefined>;
  close(): void;
}

/**
 * Uses one reader for all questions, because a second reader would miss the lines that the first reader has buffered.
 */
export function openQuestions({ stdin, stderr }: Pick<Terminal, 'stdin' | 'stderr'>): Questions {
  const input = createInterface({ input: stdin });
  const lines = input[Symbol.asyncIterator]();
  return {
    close: () => input.close(),
    ask: async ({ text, usual, refuse }) => {
      for (;;) {
        const hint = usual === undefined ? '' : ` [${usual}]`;
        stderr.write(printableText(`${text}${hint}: `));
        const line = await lines.next();
        if (line.done === true) throw unanswered();
        const answer = line.value.trim() === '' ? usual : line.value.trim();
        if (answer === undefined) return undefined;
        const why = refuse(answer);
        if (why === undefined) return answer;
        stderr.write(`${printableText(why)}\n`);
      }
    },
  };
}

function unanswered(): AppError {
  const why = 'The input ended before the last question, so nothing was written.';
  return new AppError('status_forbids', `${why} Answer all questions, or add --yes.`);
}
