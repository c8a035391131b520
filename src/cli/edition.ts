import type { AddCommands } from './runner.ts';
import type { Roles } from './terminal.ts';

/** A program: the complete package, or the publisher in one file. */
export interface Edition {
  /** In the order of the help. */
  readonly commands: readonly AddCommands[];
  /** The names of the commands that only the complete package has. */
  readonly leftOut: readonly string[];
  /** Part of each command's terminal. */
  readonly roles: Roles;
}
