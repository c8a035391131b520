import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import type { Terminal } from './terminal.ts';

/**
 * Reads a secret from standard input, and not from an argument: arguments are in the shell's history, and every user of
 * the machine sees them in `ps`. A terminal does not show the input.
 *
 * @returns undefined when the first line is empty or missing
 */
export async function askHidden(
  { stdin, stderr }: Pick<Terminal, 'stdin' | 'stderr'>,
  question: string,
): Promise<string | undefined> {
  const isTerminal = stdin.isTTY === true;
  if (isTerminal) stderr.write(`${question} (your input is not shown): `);
  const hidden = new Writable({ write: (_chunk, _encoding, done) => done() });
  const input = createInterface({ input: stdin, output: hidden, terminal: isTerminal });
  try {
    for await (const line of input) return line === '' ? undefined : line;
  } finally {
    input.close();
    if (isTerminal) stderr.write('\n');
  }
  return undefined;
}
