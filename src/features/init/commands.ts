import { type Command, Option } from 'commander';
import { addApplicationOption, addDryRunOption, addJsonOption } from '../../cli/arguments.ts';
import { describeCommand } from '../../cli/description.ts';
import type { Runner } from '../../cli/runner.ts';
import { DEFAULT_CHANNEL, parseChannelName } from '../../domain/channel.ts';

/** The command that writes the first settings and the CI file of a project. */
export function addInitCommand(program: Command, run: Runner): void {
  program.commandsGroup('Publish releases:');
  const init = describeCommand(program.command('init'), {
    summary: 'write the settings and the CI file that a project needs to publish',
    does: 'Reads the files of a project, and writes the files that it needs to publish with Slipway: a .env file with the settings, lines in .gitignore, and a CI file that builds and publishes each tag. It recognizes electron-builder, Electron Forge, Tauri, Velopack, Sparkle and .NET, and runs no code of the project. It also prints the lines for the updater in the application, in the syntax of the file that configures the build tool. At the root of a monorepo it writes nothing, and names the folders that look like desktop applications. On a terminal it asks for what the files do not state; with --yes, or without a terminal, it takes the defaults. It needs no store and no network.',
    effect:
      'creates files in the project, and writes nothing to the store. The command changes no existing file, except that it adds lines to .gitignore.',
    examples: [
      'init',
      'init apps/desktop --bucket releases --region eu-central-1 --url https://updates.example.com --ci github',
      'init --yes --dry-run',
      'init --print',
    ],
  }).argument('[directory]', 'the directory of the project, or of a package in a monorepo', '.');
  addApplicationOption(init, 'the application (default: the name that the project states)')
    .option('--channel <name>', 'the channel to publish to', parseChannelName, DEFAULT_CHANNEL)
    .option('--bucket <name>', 'the bucket of the releases (default: a directory of the project)')
    .option('--region <name>', 'the region of the bucket (default: us-east-1)')
    .option('--endpoint <url>', 'the address of a store other than AWS')
    .option('--prefix <path>', 'a path in a bucket that you share')
    .option('--url <url>', 'the public address of the service (default: not yet known)')
    .addOption(
      new Option(
        '--ci <service>',
        'the CI service to write a file for (default: that of the repository)',
      ).choices(['github', 'gitlab', 'none']),
    )
    .option('--yes', 'ask nothing, and take the defaults', false)
    .option('--print', 'print the files instead of writing them', false);
  addJsonOption(addDryRunOption(init)).action(run(async () => (await import('./run.ts')).init));
}
