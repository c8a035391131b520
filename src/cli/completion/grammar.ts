import type { Argument, Command, Option } from 'commander';
import { RepeatableOption, SuggestingOption } from '../arguments.ts';

/** The words that a user can type on the command line, read from the commands that parse it. */

/** The values that may follow: one of these words, names of files, or a word that only the user knows. */
export interface Values {
  readonly choices: readonly string[];
  readonly isFile: boolean;
}

export interface TypedOption {
  /** `-v`, `--version` */
  readonly flags: readonly string[];
  readonly summary: string;
  readonly isRepeatable: boolean;
  /** Undefined for a switch. */
  readonly values: Values | undefined;
}

export interface TypedCommand {
  /** The words that name the command, such as `accounts list`; empty for the program itself. */
  readonly path: string;
  readonly subcommands: readonly { readonly name: string; readonly summary: string }[];
  readonly options: readonly TypedOption[];
  readonly arguments: readonly Values[];
  /** True when the last argument may be given more than once. */
  readonly isVariadic: boolean;
}

/** The program and every command below it. */
export function readGrammar(program: Command): readonly TypedCommand[] {
  return [readCommand(program, ''), ...commandsBelow(program, '')];
}

function commandsBelow(parent: Command, above: string): readonly TypedCommand[] {
  const children = parent.createHelp().visibleCommands(parent);
  return children.flatMap((command) => {
    const path = `${above} ${command.name()}`.trim();
    const typed = readCommand(command, path);
    const names = children.map((each) => each.name());
    return command.name() === 'help'
      ? [{ ...typed, arguments: [{ choices: names, isFile: false }] }]
      : [typed, ...commandsBelow(command, path)];
  });
}

function readCommand(command: Command, path: string): TypedCommand {
  const help = command.createHelp();
  const { registeredArguments: arguments_ } = command;
  return {
    path,
    subcommands: help
      .visibleCommands(command)
      .map((each) => ({ name: each.name(), summary: shortened(help.subcommandDescription(each)) })),
    options: help.visibleOptions(command).map(readOption),
    arguments: arguments_.map((argument) => valuesOf(argument, argument.name())),
    isVariadic: arguments_.at(-1)?.variadic === true,
  };
}

function readOption(option: Option): TypedOption {
  const placeholder = /[<[](.+)[>\]]$/.exec(option.flags)?.[1];
  return {
    flags: [option.short, option.long].filter((flag) => flag !== undefined && flag !== null),
    summary: shortened(option.description),
    isRepeatable: option instanceof RepeatableOption,
    values: placeholder === undefined ? undefined : valuesOf(option, placeholder),
  };
}

/** The value is a file when its placeholder has one of these names: `file`, `key|file`, `[locale=]file`, `paths`. */
function valuesOf(given: Option | Argument, placeholder: string): Values {
  const choices = given instanceof SuggestingOption ? given.suggestions : (given.argChoices ?? []);
  return { choices, isFile: /(^|[^a-z])(file|paths?)$/.test(placeholder) };
}

const SUMMARY_LENGTH_MAX = 80;

/** Shortens a description to its first clause, because shells show it beside the word. */
function shortened(description: string): string {
  const [clause = ''] = description.split(/[;(]|: |\. /);
  const text = clause.trim().replace(/\.$/, '');
  return text.length <= SUMMARY_LENGTH_MAX ? text : `${text.slice(0, SUMMARY_LENGTH_MAX - 3)}...`;
}

/** Words as one text. */
export const spaced = (words: readonly string[]): string => words.join(' ');

export const flagsOf = (options: readonly TypedOption[]): readonly string[] =>
  options.flatMap(({ flags }) => flags);

export const takesValue = ({ values }: TypedOption): boolean => values !== undefined;

/** The options that have fixed values, with all their flags. */
export function choicesOf({ options }: TypedCommand): readonly (readonly [string, Values])[] {
  return options.flatMap(({ flags, values }) =>
    values === undefined || values.choices.length === 0
      ? []
      : flags.map((flag): readonly [string, Values] => [flag, values]),
  );
}

/** A text in single quotes, for bash and zsh. */
export const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
