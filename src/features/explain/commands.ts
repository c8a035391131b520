import type { Command } from 'commander';
import {
  addApplicationOption,
  addAtOption,
  addJsonOption,
  parseWordArgument,
  SuggestingOption,
} from '../../cli/arguments.ts';
import { describeCommand } from '../../cli/description.ts';
import type { Runner } from '../../cli/runner.ts';
import { parseChannelName } from '../../domain/channel.ts';
import {
  FORMATS,
  PLATFORMS,
  parseArch,
  parseFormat,
  parsePlatform,
} from '../../domain/platform.ts';
import { PROCESSOR_ARCHES } from '../../domain/target.ts';
import { parseClientVersion } from '../../domain/version.ts';

/** The command that explains decisions. */

export function addExplainCommands(program: Command, run: Runner): void {
  program.commandsGroup('Show what is published:');
  const command = describeCommand(program.command('explain'), {
    summary: 'explain which update a client gets, and why',
    does: 'Makes the decision that the service makes for a client, and explains it: which releases were considered, what each rule compared, and what would change the answer.',
    effect: 'none. The command only reads, and no client is counted.',
    examples: [
      'explain --version 1.2.0 --platform windows --arch x64',
      'explain --version 1.2.0 --platform macos --arch arm64 --id 6f1c0f5e-4a0e-4d0e-9b53-1f0d1f6a2b3c --channel beta',
      'explain --version 1.2.0 --platform windows --arch x64 --at 2026-11-22T10:00:00Z',
      'explain --platform windows --updater electron',
    ],
  });
  command
    .option(
      '--version <version>',
      'the version that the client runs; electron-updater may leave it out',
      (text) => parseClientVersion(text, '/version'),
    )
    .addOption(
      new SuggestingOption('--platform <platform>', 'windows, macos or linux', PLATFORMS, (text) =>
        parsePlatform(text),
      ).makeOptionMandatory(),
    )
    .addOption(
      new SuggestingOption(
        '--arch <arch>',
        'x64, arm64, ia32 or armv7; electron-updater may leave it out on Windows and macOS',
        PROCESSOR_ARCHES,
        (text) => parseArch(text),
      ),
    )
    .option(
      '--id <id>',
      'the id of the installation, for rollouts (default: it states none)',
      parseWordArgument,
    )
    .option('--channel <name>', 'the channel that the client asks', parseChannelName, 'stable')
    .addOption(
      new SuggestingOption(
        '--format <format>',
        'the format of the installed package',
        FORMATS,
        (text) => parseFormat(text),
      ),
    )
    .option(
      '--os-version <version>',
      'the system version that the client states',
      parseWordArgument,
    )
    .option('--manual', 'a person started the check', false)
    .option('--allow-downgrade', 'the client accepts an older version', false)
    .option('--tier <tier>', 'the tier of the account of the client (default: it is not signed in)')
    .option(
      '--updater <name>',
      'the updater that asks, such as electron or tauri (default: one that uses check-update)',
    );
  addJsonOption(addAtOption(addApplicationOption(command))).action(
    run(async () => (await import('./run.ts')).explain),
  );
}
