import type { Readable, Writable } from 'node:stream';

export type Environment = Readonly<Record<string, string | undefined>>;

/** What a command has of the process it runs in. It is handed in, so that tests run commands in their own process. */
export interface Terminal {
  /** The settings; read once a command needs them. */
  readonly environment: () => Environment;
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Writable;
  /** Progress bars are drawn here when it is a terminal. */
  readonly stderr: Writable & { readonly isTTY?: boolean };
}

/** Prints a line on standard output; an empty one without `text`. */
export function print(terminal: Terminal, text = ''): void {
  terminal.stdout.write(`${text}\n`);
}
