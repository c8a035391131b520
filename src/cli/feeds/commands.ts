import type { Command } from 'commander';
import { parseChannelName } from '../../domain/channel.ts';
import { addApplicationOption, addJsonOption } from '../arguments.ts';
import { describeCommand } from '../description.ts';
import type { Runner } from '../runner.ts';

/** The command that says how applications find their updates. */

export function addFeedsCommand(program: Command, run: Runner): void {
  program.commandsGroup('Show what is published:');
  const feeds = describeCommand(program.command('feeds'), {
    summary: 'show the addresses for updaters, and the lines to configure them',
    does: 'Shows every address of an application, by channel and updater, the addresses of download buttons, and the published files that no updater gets. With --updater, it also shows the lines to paste into the application: run it in the directory of the project for the syntax of its own configuration. The addresses begin with PUBLIC_URL.',
    effect: 'none. The command only reads.',
    examples: [
      'feeds',
      'feeds --updater electron',
      'feeds --app desktop --channel beta',
      'feeds --json',
    ],
  });
  addJsonOption(
    addApplicationOption(feeds)
      .option('--channel <name>', 'only this channel (default: all channels)', parseChannelName)
      .option(
        '--updater <name>',
        'only this updater, such as electron or squirrel-windows, with the lines to paste',
      ),
  ).action(run(async () => (await import('./run.ts')).feeds));
}
