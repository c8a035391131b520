import { type Command, Option } from 'commander';
import { describeCommand } from '../../cli/description.ts';
import type { Runner } from '../../cli/runner.ts';
import type { Terminal } from '../../cli/terminal.ts';
import type { OpenService } from '../../server/opened-service.ts';

/**
 * The command that shows Slipway on this machine.
 *
 * @param loadService loads the service, for the demo that runs the service in its own process
 */
export function addDemoCommand(
  program: Command,
  run: Runner,
  loadService: () => Promise<OpenService>,
): void {
  program.commandsGroup('Run the service:');
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
        // Only the demo without `--store` loads the whole service.
        if (options.store) return (await import('./run-demo-store.ts')).demoStore(terminal);
        return (await import('./run-demo.ts')).demo(terminal, options, await loadService());
      }),
    );
}

interface DemoOptions {
  readonly once: boolean;
  readonly store: boolean;
}
