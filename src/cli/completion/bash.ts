import {
  choicesOf,
  flagsOf,
  quoted,
  spaced,
  type TypedCommand,
  takesValue,
  type Values,
} from './grammar.ts';

/**
 * The completion for bash 3.2 and newer. Where a command expects a file, the script returns nothing. Then readline
 * completes names of files, with the quotes that they need.
 */
export function renderBash(grammar: readonly TypedCommand[]): string {
  return `# Completes slipway in bash. Written by "slipway completion bash".
# shellcheck shell=bash disable=SC2034,SC2207

# What can follow a command.
_slipway_grammar() {
  commands='' options='' valued='' files='' positions=''
  case $1 in
${grammar.map(renderCommand).join('\n')}
  esac
}

# The values of an option, after its command.
_slipway_choices() {
  case $1 in
${grammar.flatMap(renderChoices).join('\n')}
  esac
}

_slipway() {
  local current=\${COMP_WORDS[COMP_CWORD]} path='' position=0 option='' before='' words='' i word
  local commands options valued files positions
  COMPREPLY=()
  _slipway_grammar ''
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    if [[ $word == '=' ]]; then
      # bash splits --option=value and locale=file here.
      if [[ -z $option && $((i + 1)) -eq $COMP_CWORD ]]; then option=$before
      elif [[ -z $option ]]; then i=$((i + 1)); fi
    elif [[ -n $option ]]; then
      before=$option option=''
    elif [[ " $valued " == *" $word "* ]]; then
      option=$word
    elif [[ $word != -* && $position -eq 0 && " $commands " == *" $word "* ]]; then
      path="\${path:+$path }$word"
      _slipway_grammar "$path"
    elif [[ $word != -* ]]; then
      position=$((position + 1)) before=''
    fi
  done
  [[ $current == '=' ]] && current=''
  if [[ -n $option ]]; then
    [[ " $files " == *" $option "* ]] && return
    words=$(_slipway_choices "$path $option")
  elif [[ $current == -* ]]; then
    words=$options
  elif [[ -n $commands && $position -eq 0 ]]; then
    words=$commands
  else
    for word in $positions; do
      words=\${word%'*'}
      [[ $position -eq 0 || $word == *'*' ]] && break
      position=$((position - 1)) words=''
    done
    [[ $words == file ]] && return
    words=\${words//|/ }
    [[ $words == - ]] && words=''
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  # No file is expected here. bash 3.2 has no compopt, and offers files.
  compopt +o bashdefault +o default 2>/dev/null
  return 0
}

complete -o bashdefault -o default -F _slipway slipway
`;
}

function renderCommand(command: TypedCommand): string {
  const { path, subcommands, options } = command;
  const valued = options.filter(takesValue);
  const files = valued.filter(({ values }) => values?.isFile);
  const fields = {
    commands: subcommands.map(({ name }) => name),
    options: flagsOf(options),
    valued: flagsOf(valued),
    files: flagsOf(files),
    positions: positionsOf(command),
  };
  const set = Object.entries(fields).filter(([, words]) => words.length > 0);
  const lines = set.map(([name, words]) => `      ${name}=${quoted(spaced(words))}`);
  return `    ${quoted(path)})\n${lines.join('\n')}\n      ;;`;
}

/** The arguments as words. For example, `- file*` means a word that only the user knows, and then files. */
function positionsOf({ arguments: all, isVariadic }: TypedCommand): readonly string[] {
  const word = ({ choices, isFile }: Values) =>
    isFile ? 'file' : choices.length > 0 ? choices.join('|') : '-';
  return all.map((one, at) => `${word(one)}${isVariadic && at === all.length - 1 ? '*' : ''}`);
}

function renderChoices(command: TypedCommand): readonly string[] {
  return choicesOf(command).map(
    ([flag, { choices }]) =>
      `    ${quoted(`${command.path} ${flag}`)}) echo ${quoted(spaced(choices))} ;;`,
  );
}
