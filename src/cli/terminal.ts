import type { Readable, Writable } from 'node:stream';
import type { Trust } from '../catalog/trust/trust.ts';
import type { Check } from '../core/check.ts';
import { printableText } from '../core/printable.ts';
import type { Publisher } from '../store/open/stores.ts';
import type { CommandConfig, Environment, Facts } from './facts.ts';
import type { Place } from './place.ts';

/** The store and the application on which a proposed change is tried. */
export interface Trial {
  /** The publisher of a store that keeps all writes in memory. */
  readonly publisher: Publisher;
  /** The application of commands without `--app`. */
  readonly application: string;
}

/** One run of a command. */
export interface Session {
  /** Corrupt documents that the operator allows to skip: see `AppendDeps`. */
  readonly skipCorrupt: readonly number[];
  /** The keys with which the command signs, as `--key` gives them. */
  readonly keys?: readonly string[] | undefined;
  /** Undefined for a command that changes nothing. */
  readonly isDryRun: boolean | undefined;
  readonly printsJson: boolean;
  /** The application that `--app` names. */
  readonly application: string | undefined;
  /** The default application of the settings; undefined until they are read. */
  defaultApplication?: string;
  /** True when the output names a command without `--app`. */
  namesCommand?: boolean;
  /** True when the operator agreed to the change: with `--yes`, or by an answer. */
  hasConsented: boolean;
  /**
   * True when the operator agreed that new visitors get no release, or when the command told the operator so: see
   * `askAboutVisitors`.
   */
  acceptsUnserved: boolean;
  /** The store that the command works on; undefined until it is known. Outputs and errors name it. */
  place: Place | undefined;
  /** True when a request to write was sent; undefined for a command that changes no releases. */
  hasWritten?: boolean;
  /** The text to print when a signal interrupts the command; undefined: the usual sentence, which is about a change. */
  interruption?: string;
  /** True when there is no store, and the command creates none. Errors then say that there is no store. */
  lacksStore?: boolean;
  /**
   * Set for a proposed change: the command works on the store of the trial, and not on the store that the settings
   * name.
   */
  readonly trial?: Trial;
}

/** The parts that a command gets from the lists of rooms and features. A part is loaded when a command needs it. */
export interface Roles {
  readonly facts: () => Promise<Facts>;
  /** Tests stores, for the console. Undefined: this program cannot test stores. */
  readonly diagnose?: () => Promise<Diagnose>;
  /**
   * Shows a draft that waits for signatures, asks, and signs it with the keys of the command, as `slipway sign` does.
   * Undefined: this program signs nothing.
   */
  readonly signDraft?: () => Promise<SignDraft>;
}

export type SignDraft = (
  terminal: Terminal,
  draft: { readonly app: string; readonly channel: string; readonly version: string },
) => Promise<void>;

/** Tests a store as `slipway doctor` does. */
export type Diagnose = (terminal: Terminal, store: DiagnosedStore) => Promise<readonly Check[]>;

/** The part of a command's context with which {@link Diagnose} tests a store. */
export interface DiagnosedStore extends Publisher {
  readonly config: CommandConfig;
  readonly trust?: Trust | undefined;
}

/**
 * The parts of the process that a command uses. They are passed in, so that tests can run commands in their own
 * process.
 */
export interface Terminal extends Roles {
  /** Reads the settings when a command needs them. */
  readonly environment: () => Environment;
  readonly stdin: Readable & { readonly isTTY?: boolean };
  /** Only a terminal has `columns`. */
  readonly stdout: Writable & { readonly isTTY?: boolean; readonly columns?: number };
  /** Progress bars are drawn here when this stream is a terminal. */
  readonly stderr: Writable & { readonly isTTY?: boolean; readonly columns?: number };
  /** The run of the command; each run has its own session. */
  readonly session?: Session;
  /**
   * Runs another command as a proposed change: see `tryChange`. The program passes this function in, because only the
   * program knows all commands, and no command imports the program.
   */
  readonly tryChange?: (trial: Trial, line: string) => Promise<void>;
  /** Called with the session before a command runs. The message of an interrupted process depends on this session. */
  readonly onStart?: (session: Session) => void;
}

/**
 * Prints a line on standard output; an empty line without `text`. Escapes what a terminal would obey, because texts from
 * stored documents are in many lines.
 */
export function print(terminal: Terminal, text = ''): void {
  const { session } = terminal;
  if (session !== undefined && namesCommand(text)) session.namesCommand = true;
  terminal.stdout.write(`${printableText(text)}\n`);
}

/** True when a text names a command that works on the default application. */
export function namesCommand(text: string): boolean {
  return /\bslipway [a-z]/.test(text) && !text.includes('--app ');
}
