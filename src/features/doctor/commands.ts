import type { Command } from 'commander';
import { addJsonOption } from '../../cli/arguments.ts';
import { describeCommand } from '../../cli/description.ts';
import type { Runner } from '../../cli/runner.ts';

/** The command that tests a store, its settings and a running service. */

export function addDoctorCommand(program: Command, run: Runner): void {
  program.commandsGroup('Look after the store:');
  const doctor = describeCommand(program.command('doctor'), {
    summary: 'test whether the store, the settings and the service work',
    does: 'Tests what publishing and serving need of the store: access, rights, conditional writes, clocks, presigned URLs, the CDN, privacy, erasure and space. With --url it also asks the running service at its public address, and tests the proxies in front of it: TLS, client addresses, tokens, headers, ranges, caching, versions, and whether it serves this store. Each failed check says what to do. The exit code is 1 when a check failed.',
    effect:
      'the command writes probe objects and removes them, and stores whether conditional writes work. No release changes.',
    examples: ['doctor', 'doctor --url https://updates.example.com', 'doctor --json'],
  }).option('--url <url>', 'also check the running service at the address that clients use');
  addJsonOption(doctor).action(run(async () => (await import('./run.ts')).doctor));
}
