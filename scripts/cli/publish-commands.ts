import type { Command } from 'commander';
import { DEFAULT_CHANNEL, parseApplicationName } from '../../src/domain/channel.ts';
import type { StatusVerb } from '../../src/operations/change-status.ts';
import { addChangeOptions, parseRangeArgument, parseVersionArgument } from './arguments.ts';
import type { Runner } from './command-line.ts';

/** Commands that change what is offered. */

export function addPublishCommands(program: Command, run: Runner): void {
  addChangeOptions(program.command('publish'))
    .argument(
      '<version>',
      'semantic version, e.g. 1.4.0, v1.4.0 or 2.0.0-beta.1',
      parseVersionArgument,
    )
    .argument('<paths...>', 'build directories, files, or FILE,os=…,arch=…,format=…,name=…')
    .summary('publish build output as a release, or add it to one')
    .description(
      'Publishes the files of a build as a release and offers it on a channel. Several machines may publish different platforms of one version, at once or one after the other. The same files again change nothing.',
    )
    .option('--app <name>', 'application (default: DEFAULT_APP)', parseApplicationName)
    .option('--channel <name>', 'channel', DEFAULT_CHANNEL)
    .option('--create', 'create the application or channel when it is new', false)
    .option('--allow-prerelease', 'allow a pre-release on the stable channel', false)
    .option(
      '--notes-file <[locale=]file>',
      'release notes in Markdown; once for each language',
      (file: string, files: readonly string[] = []) => [...files, file],
    )
    .option(
      '--requires <range>',
      'versions that may update straight to this one',
      parseRangeArgument,
    )
    .option('--mandatory-for <range>', 'versions that must update', parseRangeArgument)
    .action(run(async () => (await import('./run/publish.ts')).publish));
  addChangeOptions(program.command('promote'))
    .argument('<version>', 'the version, such as 1.4.0', parseVersionArgument)
    .summary('offer a release on another channel')
    .requiredOption('--to <channel>', 'the channel to offer it on')
    .option('--app <name>', 'application (default: DEFAULT_APP)', parseApplicationName)
    .option('--create', 'create the channel when it is new', false)
    .option('--allow-prerelease', 'allow a pre-release on the stable channel', false)
    .action(run(async () => (await import('./run/promote.ts')).promote));
  addStatusCommand(
    program,
    run,
    'pause',
    'stop offering a release for now; users who have it keep it',
  );
  addStatusCommand(program, run, 'resume', 'offer a paused release again');
  addStatusCommand(
    program,
    run,
    'yank',
    'withdraw a bad release for good; its users get the next newer one',
  );
  addStatusCommand(
    program,
    run,
    'retire',
    'remove a release for good: no offers, downloads answer 410; cannot be undone',
  );
}

function addStatusCommand(program: Command, run: Runner, verb: StatusVerb, summary: string): void {
  addChangeOptions(program.command(verb))
    .argument('<version>', 'the version, such as 1.4.0', parseVersionArgument)
    .summary(summary)
    .option('--app <name>', 'application (default: DEFAULT_APP)', parseApplicationName)
    .option('--channel <name>', 'only on this channel (default: wherever it is listed)')
    .option('--reason <text>', 'for the history')
    .action(run(async () => (await import('./run/change-status.ts')).changeTo(verb)));
}
