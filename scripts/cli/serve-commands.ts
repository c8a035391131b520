import { type Command, InvalidArgumentError } from 'commander';
import { describeCommand } from './description.ts';
import type { Runner } from './runner.ts';

/** Commands that run the service, or the console. */
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
  describeCommand(program.command('console'), {
    summary: 'open the console in a browser of this machine',
    does: 'Starts a console on this machine and opens it in the browser: releases on every channel, rollouts, adoption, history, explain and doctor. It works on the store that the settings name, with the credentials of this command, and makes the changes that the commands make. Only this machine can reach it, and the printed address works once, in one browser. It runs until Ctrl-C.',
    effect:
      'the command changes nothing. In the console, you change releases: a pause is made at once, and any other change when you have confirmed it. With --read-only, the console refuses every change.',
    examples: ['console', 'console --read-only', 'console --no-open --port 0'],
  })
    .option('--port <n>', 'the port; 0 for a free one (default: 7447, or a free one)', parsePort)
    .option('--no-open', 'print the address, and open no browser')
    .option('--read-only', 'refuse every change', false)
    .action(run(async () => (await import('./run/console.ts')).startConsole));
}

function parsePort(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) < 65_536) return Number(text);
  throw new InvalidArgumentError('It must be a port, from 0 to 65535.');
}
