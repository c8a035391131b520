import { type Command, InvalidArgumentError } from 'commander';
import {
  addApplicationOption,
  addAtOption,
  addJsonOption,
  parseCount,
  RepeatableOption,
} from '../../cli/arguments.ts';
import { describeCommand } from '../../cli/description.ts';
import type { Runner } from '../../cli/runner.ts';

/** The command that foresees updates. */

export function addSimulateCommand(program: Command, run: Runner): void {
  program.commandsGroup('Show what is published:');
  const simulate = describeCommand(program.command('simulate'), {
    summary: 'foresee what a fleet is offered, now and over the time of the plans',
    does: 'Simulates a fleet of installations. Each installation asks for updates now and at each step of the plans, as real clients do. The command prints who gets what and when, and which installations no update can reach. With --with, the command first makes the proposed change in its own memory and compares both states.',
    effect: 'none. The command only reads, and makes proposed changes in its memory.',
    examples: [
      'simulate',
      'simulate --with "rollout 1.5.0 25%"',
      'simulate --csv fleet.csv --with "yank 1.4.0" --with "rollout 1.5.0 --complete"',
      'simulate --seen --days 7 --svg ramp.svg',
    ],
  });
  addJsonOption(
    addAtOption(addApplicationOption(simulate))
      .option('--fleet <count>', 'how many installations (default: 100000)', parseCount)
      .option(
        '--csv <file>',
        'take the fleet from a CSV file with the columns version, platform, arch and count, and optionally channel, format and os_version',
      )
      .option('--seen', 'take the shares of the fleet from the checks that clients made', false)
      .option(
        '--days <count>',
        'with --seen: how many days back, today included (default: 30)',
        parseCount,
      )
      .addOption(
        new RepeatableOption(
          '--with <command>',
          'simulate the state after this command, such as "rollout 1.5.0 25%"; several are made in order',
          String,
        ),
      )
      .option(
        '--channel <name>',
        'the channel of the made-up fleet, and of rows of the CSV file without a channel (default: stable); with --seen: use only the checks for this channel (default: all channels)',
      )
      .option(
        '--seed <number>',
        'chooses the random ids of the installations; equal seeds print the same',
        parseSeed,
        1,
      )
      .option('--svg <file>', 'also draw the versions over time into a new SVG file'),
  ).action(run(async () => (await import('./run.ts')).simulate));
}

function parseSeed(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number of at most nine digits.');
}
