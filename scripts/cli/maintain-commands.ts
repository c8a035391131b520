import type { Command } from 'commander';
import { addApplicationOption, addDryRunOption, addJsonOption } from './arguments.ts';
import type { Runner } from './command-line.ts';
import { describeCommand } from './description.ts';

/** Commands that check and clean up the store. */

const ONE_APPLICATION = 'only this application (default: all)';

export function addMaintainCommands(program: Command, run: Runner): void {
  program.commandsGroup('Look after the store:');
  const verify = describeCommand(program.command('verify'), {
    summary: 'check stored objects against the catalog',
    does: 'Reads every catalog revision and every manifest that is named, and looks for every file.',
    effect: 'none; it only reads. It ends with 1 when something is wrong. --deep reads all bytes.',
    examples: ['verify', 'verify --app desktop --deep'],
  });
  addJsonOption(
    addApplicationOption(verify, ONE_APPLICATION).option(
      '--deep',
      'also read the bytes of every file',
      false,
    ),
  ).action(run(async () => (await import('./run/verify.ts')).verify));
  const doctor = describeCommand(program.command('doctor'), {
    summary: 'test whether this store and these settings work',
    does: 'Tries what publishing and serving need: access, conditional writes, clocks, presigned links, privacy.',
    effect:
      'it writes and removes probes of its own, and keeps the verdict about the store. Nothing that is published changes.',
    examples: ['doctor'],
  });
  addJsonOption(doctor).action(run(async () => (await import('./run/doctor.ts')).doctor));
  const gc = describeCommand(program.command('gc'), {
    summary: 'remove uploads that no release names',
    does: 'Removes uploaded files that no manifest names and that are older than a week, and what interrupted uploads left.',
    effect: 'frees space. What is listed or retired keeps its files.',
    examples: ['gc --dry-run', 'gc --app desktop'],
  });
  addJsonOption(addDryRunOption(addApplicationOption(gc, ONE_APPLICATION))).action(
    run(async () => (await import('./run/gc.ts')).gc),
  );
}
