import type { Command } from 'commander';
import { parseApplicationName } from '../../src/domain/channel.ts';
import { parseCount, parseVersionArgument } from './arguments.ts';
import type { Runner } from './command-line.ts';

/** Commands that show what is published. */

const load = () => import('./run/inspect.ts');

export function addInspectCommands(program: Command, run: Runner): void {
  inspectCommand(program, 'releases', 'list the releases on every channel').action(
    run(async () => (await load()).releases),
  );
  inspectCommand(program, 'channels', 'list the channels').action(
    run(async () => (await load()).channels),
  );
  inspectCommand(program, 'show', 'show one release')
    .argument('<version>', 'the version, such as 1.4.0', parseVersionArgument)
    .action(run(async () => (await load()).show));
  program
    .command('history')
    .summary('list the latest changes')
    .option('--app <name>', 'application (default: DEFAULT_APP)', parseApplicationName)
    .option('--limit <count>', 'how many', parseCount, 20)
    .option('--json', 'print JSON', false)
    .action(run(async () => (await load()).history));
}

function inspectCommand(program: Command, name: string, summary: string): Command {
  return program
    .command(name)
    .summary(summary)
    .option('--app <name>', 'application (default: DEFAULT_APP)', parseApplicationName)
    .option('--at <revision>', 'as of this catalog revision (default: the newest)', parseCount)
    .option('--json', 'print JSON', false);
}
