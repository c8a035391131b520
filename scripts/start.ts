import { type Edition, runCommandLine } from '../src/cli/command-line.ts';
import type { Session } from '../src/cli/terminal.ts';
import { readEnvironment } from '../src/core/system.ts';

/**
 * Runs the command line in this process. The program imports this file only after it has checked the version of Node.
 */
export function startCommandLine(edition: Edition): void {
  const { stdin, stdout, stderr } = process;
  for (const stream of [stdout, stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      // EPIPE: the reader of the pipe, such as `head`, has closed it. The command still finishes its work.
      if (error.code !== 'EPIPE') throw error;
    });
  }

  let session: Session | undefined;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      // Reverses the effects of a progress bar, which hides the cursor and turns line wrapping off.
      if (stderr.isTTY && process.env.TERM !== 'dumb') stderr.write('\u001b[?25h\u001b[?7h\n');
      if (session?.isDryRun === false) {
        const sentence =
          'The command was interrupted, and the change may or may not have been made. Run the same command again to be sure.';
        stderr.write(`slipway: ${session.interruption ?? sentence}\n`);
      }
      // Ends this process with the same signal, so that a script that runs the command sees the interruption.
      process.kill(process.pid, signal);
    });
  }

  void runCommandLine(
    process.argv.slice(2),
    {
      ...edition.roles,
      environment: readEnvironment,
      stdin,
      stdout,
      stderr,
      onStart: (started) => {
        session = started;
      },
    },
    edition,
  ).then((code) => {
    process.exitCode = code;
  });
}
