import type { Readable, Writable } from 'node:stream';
import type { Place } from './place.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** One run of one command. */
export interface Session {
  /** Documents that a person allows to step over: see `AppendDeps`. */
  readonly skipCorrupt: readonly number[];
  /** Undefined for a command that changes nothing. */
  readonly isDryRun: boolean | undefined;
  readonly printsJson: boolean;
  /** The store that the command works on, once it is known: answers and failures name it. */
  place: Place | undefined;
  /** Whether no store is there and the command makes none: a failure then says so. */
  lacksStore?: boolean;
}

/** What a command has of the process it runs in. It is handed in, so that tests run commands in their own process. */
export interface Terminal {
  /** The settings; read once a command needs them. */
  readonly environment: () => Environment;
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Writable;
  /** Progress bars are drawn here when it is a terminal. */
  readonly stderr: Writable & { readonly isTTY?: boolean };
  /** What is known of the command that runs; each has its own. */
  readonly session?: Session;
  /** Told of a command before it runs: what a process says that is interrupted depends on it. */
  readonly onStart?: (session: Session) => void;
}

/** Prints a line on standard output; an empty one without `text`. */
export function print(terminal: Terminal, text = ''): void {
  terminal.stdout.write(`${text}\n`);
}
