import type { Command } from 'commander';
import { DEFAULT_CHANNEL } from '../../domain/channel.ts';
import type { StatusVerb } from '../../releases/withdraw/change-status.ts';
import {
  addApplicationOption,
  addChangeOptions,
  addConsentOption,
  addVersionArgument,
  parseVersionArgument,
  RepeatableOption,
} from '../arguments.ts';
import { type Description, describeCommand } from '../description.ts';
import type { Runner } from '../runner.ts';

/** Commands for a release that is out: they correct its notes, withdraw it, or offer it again. */

export function addWithdrawCommands(program: Command, run: Runner): void {
  // The help shows `notes` in the group before, which has the commands that publish.
  addNotes(program, run);
  program.commandsGroup('Withdraw releases:');
  for (const verb of ['pause', 'resume', 'yank'] as const) addStatusCommand(program, run, verb);
  addRollback(program, run);
  addStatusCommand(program, run, 'retire');
}

function addNotes(program: Command, run: Runner): void {
  const notes = describeCommand(program.command('notes'), {
    summary: 'correct the notes of a release that is out',
    does: 'Replaces, adds or removes the release notes of a release, on every channel that lists it. Its files and rules stay the same.',
    effect:
      'update checks, feeds and the website show the new notes within seconds. "publish --notes-file" with the old notes is refused afterwards.',
    examples: [
      'notes 1.4.0 --file notes.md',
      'notes 1.4.0 --file de=notes.de.md --remove fr --reason "wrong language"',
    ],
  });
  addApplicationOption(addVersionArgument(notes))
    .addOption(
      new RepeatableOption(
        '--file <[locale=]file>',
        'the new notes in Markdown, one file for each locale',
        String,
      ),
    )
    .addOption(
      new RepeatableOption(
        '--remove <locale>',
        'remove the notes of this locale; "und" for those without one',
        String,
      ),
    )
    .option('--reason <text>', 'the reason, for the history')
    .action(run(async () => (await import('./run-notes.ts')).notes));
  addChangeOptions(notes);
}

function addRollback(program: Command, run: Runner): void {
  const rollback = describeCommand(program.command('rollback'), {
    summary: 'withdraw every release above a version',
    does: 'Yanks every release of a channel that is newer than a version, on every channel that lists it, in one commit. First it shows what clients get afterwards. On a terminal it asks.',
    effect:
      'clients with the version or an older one are offered nothing newer than it on this channel. Clients that have a yanked release keep it until they are offered a newer one: no client goes back by itself unless its application allows downgrades. To move them to the old code, build its source again under a higher version. A yank cannot be undone.',
    examples: [
      'rollback --to 1.4.0 --dry-run',
      'rollback --to 1.4.0 --reason "1.5.0 loses settings"',
      'rollback --to 2.0.0-beta.3 --channel beta --yes',
    ],
  });
  addApplicationOption(rollback)
    .requiredOption('--to <version>', 'the version that stays', parseVersionArgument)
    .option('--channel <name>', 'the channel whose newer releases are yanked', DEFAULT_CHANNEL)
    .option('--reason <text>', 'the reason, for the history')
    .action(run(async () => (await import('./run-rollback.ts')).rollback));
  addChangeOptions(addConsentOption(rollback));
}

const STATUS_COMMANDS: Readonly<Record<StatusVerb, Description>> = {
  pause: {
    summary: 'stop offering a release for now',
    does: 'Stops offering a release, on one channel or on every channel that lists it, until it is resumed.',
    effect:
      'clients are offered the newest other release that fits; AppImages that update with zsync are offered nothing meanwhile, because they would install an older one. Clients that have the release keep it, and its downloads by version still work. For a release that is paused already, --reason records the reason.',
    examples: ['pause 1.4.0 --reason "crashes at start"', 'pause 1.4.0 --channel beta'],
  },
  resume: {
    summary: 'offer a paused release again',
    does: 'Offers a paused release again.',
    effect: 'clients are offered it within seconds. A yanked release cannot be resumed.',
    examples: ['resume 1.4.0'],
  },
  yank: {
    summary: 'withdraw a bad release permanently',
    does: 'Withdraws a bad release, on one channel or on every channel that lists it, in one commit.',
    effect:
      'it is never offered again, and its downloads answer 410. Clients that have it move to the next newer release, and to no older one unless their application allows downgrades. A yank cannot be undone: publish a new version.',
    examples: ['yank 1.4.0 --reason "deletes files"', 'yank 1.4.0 --dry-run'],
  },
  retire: {
    summary: 'remove an old release from the list permanently',
    does: 'Removes a release from the list of a channel, or of all channels. A draft is discarded: the version is then free again.',
    effect:
      'it is never offered again, and its downloads answer 410. Its files stay stored. This cannot be undone. No client saw a draft, so nothing changes for clients when it is discarded.',
    examples: ['retire 0.9.0'],
  },
};

function addStatusCommand(program: Command, run: Runner, verb: StatusVerb): void {
  const command = describeCommand(program.command(verb), STATUS_COMMANDS[verb]);
  addApplicationOption(addVersionArgument(command))
    .option('--channel <name>', 'only on this channel (default: every channel that lists it)')
    .option('--reason <text>', 'the reason, for the history')
    .action(run(async () => (await import('./run-change-status.ts')).changeTo(verb)));
  addChangeOptions(addConsentOption(command));
}
