import { type Command, InvalidArgumentError, Option } from 'commander';
import { parseApplicationName } from '../../src/domain/channel.ts';
import { parseClientVersion, versionText } from '../../src/domain/version.ts';

/** Arguments and options that several commands have. */

/** A whole number from 1, of at most ten digits. */
export function parseCount(text: string): number {
  if (/^[1-9]\d{0,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number from 1, of at most ten digits.');
}

export function parseRevision(text: string): number {
  if (/^[1-9]\d{0,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError(
    'It must be the number of a catalog revision; "slipway history" lists them.',
  );
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

/** An option that may be given more than once; any other is refused the second time. */
export class RepeatableOption<T> extends Option {
  constructor(flags: string, description: string, parse: (text: string) => T) {
    super(flags, `${description}; may be repeated`);
    this.argParser<readonly T[]>((text, before = []) => [...before, parse(text)]);
  }
}

export function addVersionArgument(command: Command): Command {
  return command.argument(
    '<version>',
    'the version, such as 1.4.0 or v1.4.0',
    parseVersionArgument,
  );
}

export function addApplicationOption(
  command: Command,
  what = 'application (default: DEFAULT_APP)',
) {
  return command.option('--app <name>', what, parseApplicationName);
}

export function addJsonOption(command: Command): Command {
  return command.option('--json', 'print JSON', false);
}

/** For every command that changes something stored. */
export function addDryRunOption(command: Command): Command {
  return command.option(
    '--dry-run',
    'check everything, change nothing, and say what would be done',
    false,
  );
}

/** The options of every command that changes what is offered. */
export interface ChangeOptions {
  readonly dryRun: boolean;
  readonly skipCorrupt?: readonly number[];
  readonly json: boolean;
}

export function addChangeOptions(command: Command): Command {
  const skipCorrupt = new RepeatableOption(
    '--skip-corrupt <n>',
    'ignore document n, which is corrupt; its change is lost',
    parseCount,
  );
  return addJsonOption(addDryRunOption(command.addOption(skipCorrupt)));
}
