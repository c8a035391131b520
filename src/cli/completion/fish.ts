import {
  flagsOf,
  spaced,
  type TypedCommand,
  type TypedOption,
  takesValue,
  type Values,
} from './grammar.ts';

/** The completion for fish 3 and newer. */
export function renderFish(grammar: readonly TypedCommand[]): string {
  const paths = grammar.map(({ path }) => path).filter((path) => path !== '');
  // The loop below builds the paths in this form: the path of a top-level command begins with a space.
  const named = paths.map((path) => quoted(path.includes(' ') ? path : ` ${path}`));
  const valued = grammar.flatMap(({ path, options }) =>
    flagsOf(options.filter(takesValue)).map((flag) => quoted(`${path} ${flag}`)),
  );
  return `# Completes slipway in fish. Written by "slipway completion fish".

# Whether the words before the cursor name this command, and the next argument is one from FIRST to LAST.
function __slipway_at -a command first last
    set -l path ''
    set -l position 0
    set -l is_value 0
    for word in (commandline -opc)[2..-1]
        if test $is_value = 1
            set is_value 0
            continue
        end
        switch "$path $word"
            case ${spaced(named)}
                set path (string trim -- "$path $word")
            case ${spaced(valued)}
                set is_value 1
            case '* -*'
            case '*'
                set position (math $position + 1)
        end
    end
    test "$path" = "$command"; or return 1
    test -z "$first"; and return 0
    test $position -ge $first; and test $position -le $last
end

complete -c slipway -f
${grammar.flatMap(renderCommand).join('\n')}
`;
}

/** More arguments than a command line can have. */
const ENDLESS = 99_999;

function renderCommand(command: TypedCommand): readonly string[] {
  const { path, subcommands, options, arguments: all, isVariadic } = command;
  const at = (...positions: readonly number[]) => {
    const condition = ['__slipway_at', quoted(path), ...positions.map(String)];
    return `complete -c slipway -n ${quoted(spaced(condition))}`;
  };
  return [
    ...subcommands.map(({ name, summary }) => `${at(0, 0)} -a ${name} -d ${quoted(summary)}`),
    ...options.map((option) => `${at()} ${renderOption(option)}`),
    ...all.flatMap((values, position) => {
      const last = isVariadic && position === all.length - 1 ? ENDLESS : position;
      const what = valuesOf(values);
      return what === '' ? [] : [`${at(position, last)} ${what}`];
    }),
  ];
}

function renderOption({ flags, summary, values }: TypedOption): string {
  const names = flags.map((flag) =>
    flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`,
  );
  const words = [...names];
  if (values !== undefined) {
    const what = valuesOf(values);
    words.push(values.isFile ? '-r' : '-x');
    if (what !== '') words.push(what);
  }
  return spaced([...words, '-d', quoted(summary)]);
}

function valuesOf({ choices, isFile }: Values): string {
  if (isFile) return '-F';
  return choices.length === 0 ? '' : `-a ${quoted(spaced(choices))}`;
}

/** A text in single quotes, in which fish reads only \\ and \' as escapes. */
const quoted = (text: string): string => `'${text.replace(/[\\']/g, '\\$&')}'`;
