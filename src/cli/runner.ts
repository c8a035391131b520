import type { Command } from 'commander';
import type { Terminal } from './terminal.ts';

/** Runs a command with its arguments and options. Resolves to the exit code; nothing means 0. */
// biome-ignore lint/suspicious/noConfusingVoidType: most commands return nothing
export type Handler = (terminal: Terminal, ...given: never[]) => Promise<number | void>;

/** Creates the action of a command. Its handler is loaded when the command runs, and not for `--help`. */
export type Runner = (load: () => Promise<Handler>) => (...given: unknown[]) => Promise<void>;

/** Adds commands with their options and help to the program. It does not load the code that the commands run. */
export type AddCommands = (program: Command, run: Runner) => void;
