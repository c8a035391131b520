import type { Command } from 'commander';
import { describeCommand } from './description.ts';
import type { Runner } from './runner.ts';

/** Commands that run the service. */
export function addServeCommands(program: Command, run: Runner): void {
  program.commandsGroup('Run the service:');
  describeCommand(program.command('serve'), {
    summary: 'start the service',
    does: 'Starts the service on the store that the settings name. The service runs until it gets SIGTERM or SIGINT (Ctrl-C). It then completes running requests and ends within ten seconds with exit code 0. HOST and PORT set the address on which it listens. On a terminal the log is text, and lists the addresses to open after the start; elsewhere it is JSON.',
    effect: 'the service answers clients. It changes no release.',
    examples: ['serve'],
  }).action(run(async () => (await import('./run/serve.ts')).serve));
  describeCommand(program.command('demo'), {
    summary: 'publish, serve and update a small program on this machine',
    does: 'Publishes two versions of a small program to a directory of its own, starts the service, and plays a client on the older version: it checks for an update, downloads it, compares the hash, and runs it. Afterwards the service runs until Ctrl-C.',
    effect: 'the command writes only to ./data/demo, or to DATA_DIR when it is set.',
    examples: ['demo', 'demo --once'],
  })
    .option('--once', 'end after the update, and stop the service', false)
    .action(run(async () => (await import('./run/demo.ts')).demo));
}
