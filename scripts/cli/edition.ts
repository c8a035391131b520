import type { AddCommands } from './runner.ts';

/** The commands of a program: of the complete package, or of the publisher in one file. */
export interface Edition {
  /** In the order of the help. */
  readonly commands: readonly AddCommands[];
  /** The names of the commands that only the complete package has. */
  readonly leftOut: readonly string[];
}
