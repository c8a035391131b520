import { type Command, InvalidArgumentError } from 'commander';
import { parseClientVersion, versionText } from '../../src/domain/version.ts';

/** A whole number from 1, of at most ten digits. */
export function parseCount(text: string): number {
  if (/^[1-9]\d{0,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number from 1, of at most ten digits.');
}

/**
 * A version as people write it, `v1.4.0` included: release jobs pass the name of a Git tag on.
 *
 * @throws AppError `invalid_version`
 */
export function parseVersionArgument(text: string): string {
  return versionText(parseClientVersion(text, '/version'));
}

/** A range with the leading `v` of its versions left out; whether it is one is for the command to say. */
export function parseRangeArgument(text: string): string {
  return text.replace(/(?<![\w.+-])v(?=\d)/g, '');
}

/** The options of every command that changes what is offered. */
export interface ChangeOptions {
  readonly dryRun: boolean;
  readonly skipCorrupt?: readonly number[];
  readonly json: boolean;
}

/** For every command that changes something stored. */
export function addDryRunOption(command: Command): Command {
  return command.option(
    '--dry-run',
    'check everything, change nothing, and say what would be done',
    false,
  );
}

export function addChangeOptions(command: Command): Command {
  return addDryRunOption(command)
    .option(
      '--skip-corrupt <number>',
      'go on from before this document, which is proven corrupt and whose change is lost; repeatable',
      (text: string, before: readonly number[] = []) => [...before, parseCount(text)],
    )
    .option('--json', 'print JSON', false);
}
