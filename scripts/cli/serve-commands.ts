import { type Command, Option } from 'commander';
import type { OpenService } from '../../src/app/opened-service.ts';
import { describeCommand } from './description.ts';
import type { Runner } from './runner.ts';
import type { Terminal } from './terminal.ts';

/**
 * Commands that run the service.
 *
 * @param loadService for the command that runs the service in its own process
 */
export function addServeCommands(
  program: Command,
  run: Runner,
  loadService: () => Promise<OpenService>,
): void {
  program.commandsGroup('Run the service:');
  describeCommand(program.command('serve'), {
    summary: 'start the service',
    does: 'Starts the service on the store that the settings name. The service runs until it gets SIGTERM or SIGINT (Ctrl-C). It then completes running requests and ends within ten seconds with exit code 0. HOST and PORT set the address on which it listens. On a terminal the log is text, and lists the addresses to open after the start; elsewhere it is JSON.',
    effect: 'the service answers clients. It changes no release.',
    examples: ['serve'],
  }).action(run(async () => (await import('./run/serve.ts')).serve));
  describeCommand(program.command('demo'), {
    summary: 'publish, serve and update a small program on this machine',
    does: 'Publishes two versions of a small program to a directory of its own, starts the service, and acts as a client that has the older version: it checks for an update, downloads it, compares the hash, and runs it. Afterwards the service runs until Ctrl-C. With --store, the command fills a directory with realistic data instead, and ends: three applications with releases of four months, rollouts, paused and yanked releases, and six weeks of counts. Other commands, the console and the service show this data.',
    effect:
      'the command writes only to ./data/demo, with --store to ./data/demo-store, or to DATA_DIR when it is set. With --store it refuses a store that has applications.',
    examples: ['demo', 'demo --once', 'demo --store'],
  })
    .option('--once', 'end after the update, and stop the service', false)
    .addOption(
      new Option('--store', 'fill a store with applications, releases and counts, and end')
        .default(false)
        .conflicts('once'),
    )
    .action(
      run(async () => async (terminal: Terminal, options: DemoOptions) => {
        // The other demo loads the whole service.
        if (options.store) return (await import('./run/demo-store.ts')).demoStore(terminal);
        return (await import('./run/demo.ts')).demo(terminal, options, await loadService());
      }),
    );
}

interface DemoOptions {
  readonly once: boolean;
  readonly store: boolean;
}
