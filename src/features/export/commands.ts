import type { Command } from 'commander';
import {
  addApplicationOption,
  addDryRunOption,
  addJsonOption,
  RepeatableOption,
} from '../../cli/arguments.ts';
import { describeCommand } from '../../cli/description.ts';
import type { Runner } from '../../cli/runner.ts';
import type { OpenService } from '../../server/opened-service.ts';

/**
 * The command that writes the files with which a static server answers in place of the service.
 *
 * @param loadService loads the service when the command needs it
 */
export function addExportCommand(
  program: Command,
  run: Runner,
  loadService: () => Promise<OpenService>,
): void {
  program.commandsGroup('Look after the store:');
  const command = describeCommand(program.command('export'), {
    summary: 'write all feeds and files for a static server',
    does: 'Writes the documents of every feed, and the files that every client may get, into a directory or a bucket. A static server or a CDN then answers the same addresses while this service is switched off. The command lists what it leaves out, because a static server cannot decide it: rollouts below 100%, channels that need a token, minimum versions of the system, and updaters that send POST. Run it again after each change: it writes only what differs, and removes what no longer belongs to the export.',
    effect:
      'none on the store and on the service. The command creates, replaces and removes files in the target, which must be empty or made by an earlier export.',
    examples: [
      'export ./public',
      'export s3://updates-static/releases --public-url https://updates.example.com',
      'export ./public --dry-run --json',
    ],
  }).argument(
    '<target>',
    'a directory, or s3://BUCKET[/PREFIX] with the S3 settings of this command',
  );
  const also = new RepeatableOption(
    '--also <address>',
    'one more address that clients ask for, such as feeds/desktop/stable/zsync/App-x86_64.AppImage.zsync',
    (text) => text,
  );
  addApplicationOption(command, 'only this application (default: all)')
    .option(
      '--public-url <url>',
      'the address at which clients will find the export (default: PUBLIC_URL)',
    )
    .option('--aliases', 'also write the addresses with "latest", another name of stable', false)
    .addOption(also);
  addJsonOption(addDryRunOption(command)).action(
    run(async () => (await import('./run.ts')).exportFeedsWith(loadService)),
  );
}
