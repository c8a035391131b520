import { choicesOf, flagsOf, type TypedCommand, takesValue } from './grammar.ts';

/** The completion for PowerShell 5.1 and newer. Where it finds nothing, PowerShell completes names of files. */
export function renderPowerShell(grammar: readonly TypedCommand[]): string {
  return `# Completes slipway in PowerShell. Written by "slipway completion powershell".
Register-ArgumentCompleter -Native -CommandName slipway -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $grammar = @{
${grammar.map(renderCommand).join('\n')}
    }
    $path = ''
    $option = ''
    $position = 0
    foreach ($element in @($commandAst.CommandElements | Select-Object -Skip 1)) {
        if ($element.Extent.EndOffset -ge $cursorPosition) { break }
        $word = $element.Extent.Text
        $next = "$path $word".Trim()
        if ($option -ne '') { $option = '' }
        elseif ($grammar[$path].Valued -ccontains $word) { $option = $word }
        elseif ($word.StartsWith('-')) { }
        elseif ($position -eq 0 -and $grammar.ContainsKey($next)) { $path = $next }
        else { $position++ }
    }
    $command = $grammar[$path]
    if ($option -ne '') { $found = $command.Choices[$option] }
    elseif ($wordToComplete.StartsWith('-')) { $found = $command.Options }
    elseif ($position -eq 0 -and $command.Commands.Count -gt 0) { $found = $command.Commands }
    else { $found = $command.Arguments[$position] }
    if ($null -eq $found) { return }
    $found.GetEnumerator() | Where-Object { $_.Key -clike "$wordToComplete*" } | ForEach-Object {
        [System.Management.Automation.CompletionResult]::new($_.Key, $_.Key, 'ParameterValue', $_.Value)
    }
}
`;
}

function renderCommand(command: TypedCommand): string {
  const { path, subcommands, options, arguments: all } = command;
  const flags = options.flatMap((option) =>
    option.flags.map((flag): Row => [flag, option.summary]),
  );
  const choices = choicesOf(command).map(
    ([flag, { choices: words }]) => `${quoted(flag)} = ${table(same(words))}`,
  );
  const positions = all.map(({ choices: words }) =>
    words.length === 0 ? '$null' : table(same(words)),
  );
  return `        ${quoted(path)} = @{
            Commands = ${table(subcommands.map(({ name, summary }) => [name, summary]))}
            Options = ${table(flags)}
            Valued = @(${flagsOf(options.filter(takesValue)).map(quoted).join(', ')})
            Choices = @{ ${choices.join('; ')} }
            Arguments = @(${positions.join(', ')})
        }`;
}

type Row = readonly [word: string, summary: string];

const same = (words: readonly string[]): readonly Row[] => words.map((word) => [word, word]);

/** The rows as a table of PowerShell. A tooltip must not be empty, so a word without a summary is its own tooltip. */
const table = (rows: readonly Row[]): string =>
  `[ordered]@{ ${rows.map(([word, summary]) => `${quoted(word)} = ${quoted(summary || word)}`).join('; ')} }`;

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;
