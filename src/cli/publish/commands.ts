import type { Command } from 'commander';
import { AppError } from '../../core/errors.ts';
import { DEFAULT_CHANNEL } from '../../domain/channel.ts';
import { parseTarget, type Target } from '../../domain/target.ts';
import {
  addApplicationOption,
  addChangeOptions,
  addConsentOption,
  addVersionArgument,
  parseRangeArgument,
  RepeatableOption,
} from '../arguments.ts';
import { describeCommand } from '../description.ts';
import type { Runner } from '../runner.ts';

/** Commands that change offers. */

export function addPublishCommands(program: Command, run: Runner): void {
  program.commandsGroup('Publish releases:');
  addPublish(program, run);
  addPromote(program, run);
  addRollout(program, run);
}

function addPublish(program: Command, run: Runner): void {
  const publish = describeCommand(program.command('publish'), {
    summary: 'publish build output as a release, or add it to one',
    does: 'Publishes the files of a build as a release and offers it on a channel. Several machines may publish different platforms of a version, at the same time or one after the other. Publishing the same files again changes nothing. With --expect or --draft the release is held back as a draft, to be offered whole. Without paths the command opens the draft.',
    effect:
      'clients of the channel are offered the release within seconds; with --rollout, only a share of them is. A published file is never replaced: to correct it, publish a new version. Clients see nothing of a draft, and its files may be replaced.',
    examples: [
      'publish 1.4.0 dist --create',
      'publish 2.0.0-beta.1 dist --channel beta --notes-file notes.md',
      'publish 1.5.0 dist --rollout "5%@0h,25%@6h,100%@48h"',
      'publish 2.0.0 App.bin,os=linux,arch=x64,format=binary --requires ">=1.4.0"',
      'publish 1.5.0 dist --expect windows-x64,macos-arm64,linux-x64',
      'publish 1.5.0 dist --draft',
      'publish 1.5.0',
    ],
  });
  addApplicationOption(addVersionArgument(publish))
    .argument(
      '[paths...]',
      'build directories, files, or FILE,os=…,arch=…,format=…,name=…; without any, the draft of the version is opened',
    )
    .option('--channel <name>', 'the channel to offer it on', DEFAULT_CHANNEL)
    .option(
      '--create',
      'create the application or channel when it is new; the display name of a new application is the product name in the build, or else of the project',
      false,
    )
    .option('--allow-prerelease', 'allow a pre-release on the stable channel', false)
    .addOption(
      new RepeatableOption(
        '--notes-file <[locale=]file>',
        'release notes in Markdown, one file for each locale',
        String,
      ),
    )
    .option(
      '--requires <range>',
      'versions that may update straight to this one; others need a release in between',
      parseRangeArgument,
    )
    .option('--mandatory-for <range>', 'versions that must update', parseRangeArgument)
    .option(
      '--allow-stranded',
      'publish even if no client, or not every client that must update, can reach this release',
      false,
    )
    .addOption(
      new RepeatableOption(
        '--end-native <target>',
        'state that this release gets no native build for this target, such as windows-arm64; clients on those machines are then offered another build that they can run, such as x64',
        parseTarget,
      ),
    )
    .addOption(
      new RepeatableOption(
        '--rehash <name>',
        'publish this file as it is, although latest*.yml or another feed states another hash or size: you changed the file on purpose. The history records it',
        String,
      ),
    )
    .addOption(
      new RepeatableOption(
        '--trusts <key|file>',
        'the public key that these builds trust for their next update, when it is not the key that signed them: a key of Tauri or Sparkle. Publish warns when a later release is signed with a key that they do not trust',
        String,
      ),
    )
    .option(
      '--rezip',
      'repack the zip of electron-builder for macOS, so that updates to later versions download less; give it for each version. The application inside stays the same',
      false,
    )
    .option(
      '--deltas <count>',
      'make a delta of each Velopack package from this many earlier releases; the releases that most clients run come first; 0 to 10 (default: 3)',
      parseDeltaCount,
    )
    .option('--draft', 'add the files to a draft, which "slipway publish VERSION" opens', false)
    .addOption(
      new RepeatableOption(
        '--expect <targets>',
        'hold the release back until each of these targets has a build, such as windows-x64,macos-arm64; the first publish of the version fixes the list (default: what the channel expects)',
        parseTargets,
      ),
    )
    .option('--release-partial', 'offer the release although expected targets have no build', false)
    .option('--rollout <share>', ROLLOUT_OPTION)
    .action(run(async () => (await import('./run-publish.ts')).publish));
  addChangeOptions(addConsentOption(addFreezeWindowOption(publish)));
}

/** @throws AppError `invalid_request` */
function parseDeltaCount(text: string): number {
  if (/^(\d|10)$/.test(text)) return Number(text);
  throw new AppError('invalid_request', `--deltas ${text} is not a number from 0 to 10.`);
}

/** @throws AppError `unknown_platform`, `unknown_arch` */
function parseTargets(list: string): readonly Target[] {
  return list.split(',').map((text) => parseTarget(text.trim()));
}

const ROLLOUT_OPTION =
  'offer the release to a share of the installations first: 0, 5%, or a plan such as "1%@0h,10%@6h,100%@48h". A rollout that the release already has on the channel stays as it is: change it with "slipway rollout"';

function addFreezeWindowOption(command: Command): Command {
  return command.addOption(
    new RepeatableOption(
      '--freeze-window <window>',
      'the plan stands still in this part of each week, such as "Fri 16:00..Mon 08:00 Europe/Berlin"',
      String,
    ),
  );
}

function addRollout(program: Command, run: Runner): void {
  const rollout = describeCommand(program.command('rollout'), {
    summary: 'offer a release to a share of the installations',
    does: 'Shows the rollout of a release, or changes it: to a percentage, or to a plan that raises the percentage over time. A plan needs no scheduler: the service computes the percentage from the time. Raising it only adds installations. Lowering it removes those that were added last.',
    effect:
      'only clients within the share are offered the release. Clients that state no installation id, and visitors of a website, are offered it only when the share is 100%. Clients that have the release keep it.',
    examples: [
      'rollout 1.5.0',
      'rollout 1.5.0 25%',
      'rollout 1.5.0 --plan "1%@0h,10%@6h,50%@24h,100%@48h" --freeze-window "Fri 16:00..Mon 08:00 Europe/Berlin"',
      'rollout 1.5.0 --plan "linear 0%@0h,100%@7d"',
      'rollout 1.5.0 --freeze --reason "crash reports"',
    ],
  });
  addApplicationOption(addVersionArgument(rollout))
    .argument('[share]', 'the percentage, from 0 to 100%, with at most two decimals')
    .option(
      '--plan <plan>',
      'percentages with the times from which they hold: relative to now (30m, 6h, 2d) or absolute (2026-12-01T09:00:00Z); after the word "linear" they grow evenly in between',
    )
    .option('--freeze', 'keep the present percentage until --unfreeze', false)
    .option('--unfreeze', 'let the plan go on from where it was frozen', false)
    .option('--complete', 'offer the release to every client now', false)
    .option(
      '--channel <name>',
      'only on this channel (default: every channel where its rollout is under way; if there is none, every channel that offers it)',
    )
    .option('--reason <text>', 'the reason, for the history')
    .action(run(async () => (await import('./run-rollout.ts')).rollout));
  addChangeOptions(addConsentOption(addFreezeWindowOption(rollout)));
}

function addPromote(program: Command, run: Runner): void {
  const promote = describeCommand(program.command('promote'), {
    summary: 'offer a release on another channel',
    does: 'Offers a release on another channel too. It uploads nothing. Where several people sign for the other channel, it makes a draft. On a terminal, it then shows the draft, asks, and signs it with the given keys, as slipway sign does.',
    effect:
      'every client of the other channel is offered the release within seconds, unless you give --rollout. The rollout of the first channel is not copied. The first channel still offers the release.',
    examples: ['promote 1.4.0 --to stable', 'promote 1.4.0 --to internal --create --dry-run'],
  });
  addApplicationOption(addVersionArgument(promote))
    .requiredOption('--to <channel>', 'the channel to offer it on')
    .option('--create', 'create the channel when it is new', false)
    .option('--allow-prerelease', 'allow a pre-release on the stable channel', false)
    .option('--allow-older', 'allow a version older than what the channel offers', false)
    .option(
      '--allow-stranded',
      'promote even if no client, or not every client that must update, can reach this release',
      false,
    )
    .option(
      '--release-partial',
      'promote although targets that the channel expects have no build',
      false,
    )
    .option('--rollout <share>', ROLLOUT_OPTION)
    .action(run(async () => (await import('./run-promote.ts')).promote));
  addChangeOptions(addConsentOption(addFreezeWindowOption(promote)));
}
