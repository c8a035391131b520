import type { Command } from 'commander';
import {
  addApplicationOption,
  addAtOption,
  addJsonOption,
  addVersionArgument,
  parseCount,
} from '../arguments.ts';
import { type Description, describeCommand } from '../description.ts';
import type { Runner } from '../runner.ts';

/** Commands that show published releases. */

const load = () => import('./run.ts');
const READS = 'none. The command only reads.';

export function addInspectCommands(program: Command, run: Runner): void {
  program.commandsGroup('Show what is published:');
  inspectCommand(program, 'releases', {
    summary: 'list the releases on every channel',
    does: 'Lists every release of an application with its channel, status, platforms and reason.',
    effect: READS,
    examples: ['releases', 'releases --app desktop --at 12', 'releases --at 2026-11-22T10:00:00Z'],
  }).action(run(async () => (await load()).releases));
  addVersionArgument(
    inspectCommand(program, 'show', {
      summary: 'show one release',
      does: 'Shows one release: its channels, rules, notes and files with their hashes.',
      effect: READS,
      examples: ['show 1.4.0'],
    }),
  ).action(run(async () => (await load()).show));
  const history = describeCommand(program.command('history'), {
    summary: 'list the latest changes',
    does: 'Lists the latest changes to what an application offers, one on each line: when, by whom, what, for which platforms, and why. On a terminal, long texts are cut; --json has all of them.',
    effect: READS,
    examples: ['history --limit 5'],
  });
  addJsonOption(
    addApplicationOption(history).option(
      '--limit <count>',
      'number of changes to list',
      parseCount,
      20,
    ),
  ).action(run(async () => (await load()).history));
}

function inspectCommand(program: Command, name: string, description: Description): Command {
  const command = describeCommand(program.command(name), description);
  return addJsonOption(addAtOption(addApplicationOption(command)));
}
