import { type Command, Option } from 'commander';
import { addApplicationOption, addChangeOptions, addConsentOption } from '../../cli/arguments.ts';
import { describeCommand } from '../../cli/description.ts';
import type { Runner } from '../../cli/runner.ts';
import { DEFAULT_CHANNEL, parseChannelName } from '../../domain/channel.ts';
import { parseArch } from '../../domain/platform.ts';
import { SOURCE_KINDS } from './sources/source.ts';

/** The command that takes over the history of another update server. */

export function addImportCommand(program: Command, run: Runner): void {
  program.commandsGroup('Publish releases:');
  const command = describeCommand(program.command('import'), {
    summary: 'take over the releases of another update server',
    does: "Publishes every release that another update server left on disk, the oldest first, with its date, name and notes. The source is the folder of an electron-builder, Squirrel.Windows or Velopack server, a Sparkle appcast with its files, the latest.json of Tauri's updater with its files, or the JSON of GitHub's releases or of an electron-release-server with their assets. The command leaves out drafts of the source. It refuses a release with a missing file, or with another size or hash than the source states, and imports the others. Run the same command again to continue: it skips what it has imported.",
    effect:
      'clients of the channels are offered the imported releases that are newer. The exit code is 1 when the command refused something, or found no release to import.',
    examples: [
      'import ./old-server --create',
      'import ./downloads/releases.json --from github --create --dry-run',
      'import ./Releases --app editor --channel stable --prerelease-channel beta --create',
    ],
  });
  addApplicationOption(command)
    .argument(
      '<path>',
      'the directory of the other server, or the index in it, such as appcast.xml',
    )
    .addOption(
      new Option(
        '--from <kind>',
        'the kind of the other server (default: recognized by its files)',
      ).choices(SOURCE_KINDS),
    )
    .option(
      '--channel <name>',
      'the channel for releases whose source states none',
      parseChannelName,
      DEFAULT_CHANNEL,
    )
    .option(
      '--prerelease-channel <name>',
      'the channel for pre-releases whose source states none (default: the word in the version, such as beta)',
      parseChannelName,
    )
    .option('--create', 'create the application and the channels that are new', false)
    .option('--allow-prerelease', 'allow pre-releases on the stable channel', false)
    .option('--arch <arch>', 'the architecture of files that state none', (text) => parseArch(text))
    .option(
      '--tag-prefix <text>',
      'what the tags of GitHub have before the version, such as app- for app-v1.2.0; other tags are left out',
    )
    .option('--flavor <name>', 'the flavor of an electron-release-server (default: "default")')
    .action(run(async () => (await import('./run.ts')).importHistory));
  addChangeOptions(addConsentOption(command));
}
