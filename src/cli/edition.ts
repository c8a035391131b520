import type { AddCommands } from './runner.ts';
import type { Roles } from './terminal.ts';

/** A program: the complete package, or the publisher in one file. */
export interface Edition {
  /** The commands in the order of the help. */
  readonly commands: readonly AddCommands[];
  /** The names of the commands that only the complete package has. */
  readonly leftOut: readonly string[];
  /** The roles that each command gets in its terminal. */
  readonly roles: Roles;
}
