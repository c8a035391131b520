import type { Command } from 'commander';
import { addDryRunOption, addJsonOption } from '../../cli/arguments.ts';
import { describeCommand } from '../../cli/description.ts';
import type { Runner } from '../../cli/runner.ts';

const PLACE = 'a directory (a DATA_DIR), or s3://BUCKET[/PREFIX]';

/** The command that copies a whole store. */
export function addCopyCommand(program: Command, run: Runner): void {
  program.commandsGroup('Look after the store:');
  const command = describeCommand(program.command('copy'), {
    summary: 'copy a whole store: for a backup, a restore, or a move',
    does: 'Copies everything that one store has into another one: releases, and accounts, messages and counts when they are in the same bucket. Publishers and services can run meanwhile. The command checks every file and document against its hash; it names each corrupt one and does not copy it. Run it again after an interruption, or to update the copy: it copies only what is missing. The target must be empty, or an earlier copy of the same store. Copy S3_PRIVATE_BUCKET with a second command. Secrets and saved state are not in the store.',
    effect:
      'none on the source, which is only read. The command creates objects in the target and replaces none. The exit code is 1 when the copy is not complete.',
    examples: [
      'copy ./data s3://backup/slipway',
      'copy s3://releases s3://backup/slipway --to-env backup.env --prune',
      'copy s3://backup/slipway ./restored --from-env backup.env --dry-run',
    ],
  })
    .argument('<from>', PLACE)
    .argument('<to>', PLACE)
    .option(
      '--from-env <file>',
      'a file like .env with the settings of the source bucket: S3_ENDPOINT, S3_REGION, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY (default: the settings of this command)',
    )
    .option('--to-env <file>', 'the same for the target bucket')
    .option('--deep', 'also read and compare the objects that both have', false)
    .option(
      '--prune',
      'after the copy, delete from the target what the source has erased or cleaned up',
      false,
    );
  addJsonOption(addDryRunOption(command)).action(run(async () => (await import('./run.ts')).copy));
}
