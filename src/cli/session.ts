import type { Command } from 'commander';
import type { ChangeOptions, ConsentOptions } from './arguments.ts';
import type { Session } from './terminal.ts';

/** Creates the session of a command from its options. They are read here, so that no handler can forget one. */
export function sessionOf(command: Command): Session {
  const options = command.opts<Partial<ChangeOptions & ConsentOptions & { app: string }>>();
  const { skipCorrupt = [], dryRun, json = false, yes = false, app: application } = options;
  const flags = { isDryRun: dryRun, printsJson: json, hasConsented: yes, acceptsUnserved: yes };
  return { skipCorrupt, ...flags, application, place: undefined };
}
