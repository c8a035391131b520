import { type Command, InvalidArgumentError } from 'commander';
import { describeCommand } from '../../cli/description.ts';
import type { Runner } from '../../cli/runner.ts';

export function addConsoleCommand(program: Command, run: Runner): void {
  program.commandsGroup('Run the service:');
  describeCommand(program.command('console'), {
    summary: 'open the console in a browser of this machine',
    does: 'Starts a console on this machine and opens it in the browser: releases on every channel, rollouts, adoption, history, explain and doctor. It works on the store that the settings name, with the credentials of this command, and can change releases as the other commands do. Only this machine can reach it, and the printed address works once, in one browser. It runs until Ctrl-C.',
    effect:
      'the command itself changes nothing. In the console you can change releases: the console pauses a release at once, and makes any other change after you confirm it. With --read-only, the console refuses every change.',
    examples: ['console', 'console --read-only', 'console --no-open --port 0'],
  })
    .option(
      '--port <n>',
      'the port; 0 chooses a free one (default: 7447, or a free one when 7447 is in use)',
      parsePort,
    )
    .option('--no-open', 'print the address, and open no browser')
    .option('--read-only', 'refuse every change', false)
    .action(run(async () => (await import('./run.ts')).startConsole));
}

function parsePort(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) < 65_536) return Number(text);
  throw new InvalidArgumentError('It must be a port, from 0 to 65535.');
}
