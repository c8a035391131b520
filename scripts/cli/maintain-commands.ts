import type { Command } from 'commander';
import { parseApplicationName } from '../../src/domain/channel.ts';
import { addDryRunOption } from './arguments.ts';
import type { Runner } from './command-line.ts';

/** Commands that check and clean up the store. */

export function addMaintainCommands(program: Command, run: Runner): void {
  program
    .command('verify')
    .summary('check stored objects against the catalog')
    .option('--app <name>', 'only this application (default: all)', parseApplicationName)
    .option('--deep', 'also read the bytes of every file', false)
    .option('--json', 'print JSON', false)
    .action(run(async () => (await import('./run/verify.ts')).verify));
  program
    .command('doctor')
    .summary('test whether this store and these settings work')
    .option('--json', 'print JSON', false)
    .action(run(async () => (await import('./run/doctor.ts')).doctor));
  addDryRunOption(program.command('gc'))
    .summary('remove uploads that no release names and that are older than a week')
    .option('--app <name>', 'only this application (default: all)', parseApplicationName)
    .option('--json', 'print JSON', false)
    .action(run(async () => (await import('./run/gc.ts')).gc));
}
