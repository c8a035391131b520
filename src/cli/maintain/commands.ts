import type { Command } from 'commander';
import { addApplicationOption, addDryRunOption, addJsonOption } from '../arguments.ts';
import { describeCommand } from '../description.ts';
import type { Runner } from '../runner.ts';

/** Commands that check the store and clean it up. */

const ONE_APPLICATION = 'only this application (default: all)';

export function addVerifyCommand(program: Command, run: Runner): void {
  program.commandsGroup('Look after the store:');
  const verify = describeCommand(program.command('verify'), {
    summary: 'check stored objects against the catalog',
    does: "Reads all catalog revisions and the manifests of all listed releases, and checks that every file is stored with its size. With --deep it also reads and hashes all files, and verifies the signatures of Tauri and Sparkle that were made with the application's keys, except legacy ones of Tauri.",
    effect: 'none. The command only reads. Its exit code is 1 when it finds a problem.',
    examples: ['verify', 'verify --app desktop --deep'],
  });
  addJsonOption(
    addApplicationOption(verify, ONE_APPLICATION).option(
      '--deep',
      'also read and hash every file',
      false,
    ),
  ).action(run(async () => (await import('./run-verify.ts')).verify));
}

export function addGcCommand(program: Command, run: Runner): void {
  program.commandsGroup('Look after the store:');
  const gc = describeCommand(program.command('gc'), {
    summary: 'remove files that no release needs',
    does: 'Removes uploaded files that no manifest names and that are older than a week, the parts of interrupted uploads, and the files of releases that "--keep" dropped from every channel more than 90 days ago.',
    effect: 'frees space. Listed releases, and those that you retired yourself, keep their files.',
    examples: ['gc --dry-run', 'gc --app desktop'],
  });
  addJsonOption(addDryRunOption(addApplicationOption(gc, ONE_APPLICATION))).action(
    run(async () => (await import('./run-gc.ts')).gc),
  );
}
