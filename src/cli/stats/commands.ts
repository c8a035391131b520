import { type Command, InvalidArgumentError } from 'commander';
import { parseChannelName } from '../../domain/channel.ts';
import { DAILY_DAYS } from '../../usage/condense.ts';
import { addApplicationOption, addJsonOption, parseVersionArgument } from '../arguments.ts';
import { describeCommand } from '../description.ts';
import type { Runner } from '../runner.ts';

/** The command that shows how clients adopt versions. */

export function addStatsCommand(program: Command, run: Runner): void {
  program.commandsGroup('Show what is published:');
  const stats = describeCommand(program.command('stats'), {
    summary: 'show which versions clients run',
    does: 'Shows how many checks, offers and download links the services counted, by version, platform and channel; for one version, by day. It reads what the services stored, and needs no running service. Services store their counts every COUNTERS_FLUSH_INTERVAL, so the last minutes may be missing.',
    effect: 'none. The command only reads.',
    examples: ['stats', 'stats 1.4.0 --days 14', 'stats --channel beta --json'],
  });
  addJsonOption(
    addApplicationOption(
      stats
        .argument(
          '[version]',
          'show the adoption of this version by day (default: all versions)',
          parseVersionArgument,
        )
        .option(
          '--days <count>',
          `the last days to show, 1 to ${DAILY_DAYS}; a day is a UTC day, and today is the last`,
          parseDays,
          30,
        )
        .option('--channel <name>', 'only clients of this channel', parseChannelName),
    ),
  ).action(run(async () => (await import('./run.ts')).stats));
}

function parseDays(text: string): number {
  const days = /^[1-9]\d{0,2}$/.test(text) ? Number(text) : Number.POSITIVE_INFINITY;
  if (days <= DAILY_DAYS) return days;
  throw new InvalidArgumentError(
    `It must be a whole number from 1 to ${DAILY_DAYS}; older days are kept as one sum.`,
  );
}
