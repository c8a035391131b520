import { type Command, InvalidArgumentError, Option } from 'commander';
import { parseApplicationName } from '../domain/channel.ts';
import { parseRevisionReference } from '../domain/revision-reference.ts';
import { WORD_LENGTH_MAX } from '../domain/update-query.ts';
import { parseClientVersion, versionText } from '../domain/version.ts';

/** Arguments and options of several commands. */

/** Parses a whole number from 1, of at most ten digits. */
export function parseCount(text: string): number {
  if (/^[1-9]\d{0,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number from 1, of at most ten digits.');
}

/** The number of a stored document. A message may name the highest number there is, and what it prints has to work. */
function parseDocumentNumber(text: string): number {
  const number = /^[1-9]\d{0,15}$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(number)) return number;
  throw new InvalidArgumentError(`It must be a whole number from 1 to ${Number.MAX_SAFE_INTEGER}.`);
}

/**
 * Parses a version with or without a leading `v`, because release jobs pass the name of a Git tag.
 *
 * @throws AppError `invalid_version`
 */
export function parseVersionArgument(text: string): string {
  return versionText(parseClientVersion(text, '/version'));
}

/** Removes the leading `v` of the versions in a range. The command itself checks the range. */
export function parseRangeArgument(text: string): string {
  return text.replace(/(?<![\w.+-])v(?=\d)/g, '');
}

/** An option that may be given more than once. Any other option is refused the second time. */
export class RepeatableOption<T> extends Option {
  constructor(flags: string, description: string, parse: (text: string) => T) {
    super(flags, `${description}; may be repeated`);
    this.argParser<readonly T[]>((text, before = []) => [...before, parse(text)]);
  }
}

/** An option whose usual values a shell completes. It also accepts other words, such as `win32` for `windows`. */
export class SuggestingOption<T> extends Option {
  readonly suggestions: readonly string[];
  constructor(
    flags: string,
    description: string,
    suggestions: readonly string[],
    parse: (text: string) => T,
  ) {
    super(flags, description);
    this.suggestions = suggestions;
    this.argParser(parse);
  }
}

export function addVersionArgument(command: Command): Command {
  return command.argument(
    '<version>',
    'the version, such as 1.4.0 or v1.4.0',
    parseVersionArgument,
  );
}

/**
 * The option that a printed command needs to act on an application: ` --app NAME`, or nothing for the default
 * application.
 */
export function appOption(application: string, defaultApplication: string): string {
  return application === defaultApplication ? '' : ` --app ${application}`;
}

/**
 * Parses a text that a client states, such as its id. It refuses the texts that check-update refuses: an empty text,
 * and a text that is too long.
 */
export function parseWordArgument(text: string): string {
  if (text.length > 0 && text.length <= WORD_LENGTH_MAX) return text;
  throw new InvalidArgumentError(
    `check-update refuses it: it must have 1 to ${WORD_LENGTH_MAX} characters. Leave the option out when the client does not state it.`,
  );
}

export function addApplicationOption(
  command: Command,
  what = 'the application (default: DEFAULT_APP)',
) {
  return command.option('--app <name>', what, parseApplicationName);
}

/** Adds the option `--at`, for commands that show an earlier state. */
export function addAtOption(command: Command): Command {
  return command.option(
    '--at <revision|time>',
    'the state at an earlier catalog revision, a number from "slipway history", or at a time such as 2026-11-22T10:00:00Z (default: now)',
    parseRevisionReference,
  );
}

export function addJsonOption(command: Command): Command {
  return command.option('--json', 'print JSON', false);
}

/** Adds the option `--dry-run`, for every command that changes something stored. */
export function addDryRunOption(command: Command): Command {
  return command.option(
    '--dry-run',
    'make all checks and print what would be done, but change nothing',
    false,
  );
}

/** The options of every command that changes offers. */
export interface ChangeOptions {
  readonly dryRun: boolean;
  readonly skipCorrupt?: readonly number[];
  readonly json: boolean;
}

const changing = new WeakSet<Command>();

/** True for a command that changes which releases are offered. */
export function changesReleases(command: Command): boolean {
  return changing.has(command);
}

export function addChangeOptions(command: Command): Command {
  changing.add(command);
  return addSkipOption(addJsonOption(addDryRunOption(addKeyOption(command))));
}

/** Adds the option `--skip-corrupt`, for every command that commits a catalog revision. */
export function addSkipOption(command: Command): Command {
  return command.addOption(
    new RepeatableOption(
      '--skip-corrupt <n>',
      'skip document n, which is corrupt; the change in it is lost',
      parseDocumentNumber,
    ),
  );
}

/** Adds the option `--key`, for every command that signs. */
export function addKeyOption(command: Command): Command {
  return command.addOption(
    new RepeatableOption(
      '--key <file>',
      'sign with this private key: a key file, or "command:NAME.pub:COMMAND" (default: TRUST_KEY)',
      String,
    ),
  );
}

/** The option of a command that asks before a wide or a permanent change. See `requireConsent`. */
export interface ConsentOptions {
  readonly yes: boolean;
}

export function addConsentOption(command: Command): Command {
  return command.option('--yes', 'do not ask before the change; a script is never asked', false);
}

/**
 * The value of an option that may clear a setting. The value is in an object, because Commander replaces a plain null
 * by an empty text.
 */
export interface Clearable<T> {
  readonly to: T | null;
}
