import type { Command } from 'commander';
import { describeCommand } from '../description.ts';
import type { Runner } from '../runner.ts';

/** The command that runs the service. */
export function addServeCommand(program: Command, run: Runner): void {
  program.commandsGroup('Run the service:');
  describeCommand(program.command('serve'), {
    summary: 'start the service',
    does: 'Starts the service on the store that the settings name. The service runs until it gets SIGTERM or SIGINT (Ctrl-C). It then completes running requests and ends within ten seconds with exit code 0. HOST and PORT set the address on which it listens. On a terminal the log is text, and lists the addresses to open after the start; elsewhere it is JSON.',
    effect: 'the service answers clients. It changes no release.',
    examples: ['serve'],
  }).action(run(async () => (await import('./run.ts')).serve));
}
