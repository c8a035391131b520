import { quoted, spaced, type TypedCommand, type TypedOption, type Values } from './grammar.ts';

/** The completion for zsh: a function for each command, in the syntax of zsh's own `_arguments`. */
export function renderZsh(grammar: readonly TypedCommand[]): string {
  return `#compdef slipway
# Completes slipway in zsh. Written by "slipway completion zsh".

${grammar.map(renderFunction).join('\n\n')}

if [[ $funcstack[1] == _slipway ]]; then
  _slipway "$@"
else
  compdef _slipway slipway
fi
`;
}

const nameOf = (path: string): string =>
  `_slipway${path === '' ? '' : `_${path}`}`.replaceAll(' ', '_');

function renderFunction(command: TypedCommand): string {
  const { path, subcommands, options } = command;
  const specs = options.flatMap(renderOption);
  if (subcommands.length === 0) {
    const all = [...specs, ...command.arguments.map((one, at) => renderArgument(command, one, at))];
    return `${nameOf(path)}() {\n  _arguments ${all.map(quoted).join(' \\\n    ')}\n}`;
  }
  const described = subcommands.map(({ name, summary }) => quoted(`${name}:${escaped(summary)}`));
  const cases = subcommands.map(
    ({ name }) => `        ${name}) ${nameOf(`${path} ${name}`.trim())} ;;`,
  );
  return `${nameOf(path)}() {
  local curcontext=$curcontext context state state_descr line
  local -A opt_args
  local -a commands=(
    ${described.join('\n    ')}
  )
  _arguments -C ${[...specs, '1: :->command', '*:: :->rest'].map(quoted).join(' \\\n    ')}
  case $state in
    command) _describe -t commands command commands ;;
    rest)
      case $line[1] in
${cases.join('\n')}
      esac
      ;;
  esac
}`;
}

function renderOption({ flags, summary, isRepeatable, values }: TypedOption): readonly string[] {
  return flags.map((flag) => {
    const first = isRepeatable ? '*' : exclusionOf(flags);
    const value = values === undefined ? '' : `:value:${actionOf(values)}`;
    return `${first}${flag}${values === undefined ? '' : '='}[${escaped(summary)}]${value}`;
  });
}

/** After the user gives an option, zsh offers none of its flags again. */
function exclusionOf(flags: readonly string[]): string {
  return flags.length > 1 ? `(${spaced(flags)})` : '';
}

function renderArgument({ isVariadic, ...command }: TypedCommand, values: Values, at: number) {
  const isRest = isVariadic && at === command.arguments.length - 1;
  return `${isRest ? '*' : at + 1}:value:${actionOf(values)}`;
}

function actionOf({ choices, isFile }: Values): string {
  if (isFile) return '_files';
  // Without choices, the action is `()`, and not a space: with a space, zsh would show only a message, and would
  // complete no option in this place.
  return `(${spaced(choices)})`;
}

/** Escapes the characters that separate the parts of a specification. */
const escaped = (text: string): string => text.replace(/[\\:[\]]/g, '\\$&');
