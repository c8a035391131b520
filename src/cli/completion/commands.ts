import { Argument, type Command } from 'commander';
import { describeCommand } from '../description.ts';
import type { Runner } from '../runner.ts';
import { SHELLS } from './shells.ts';

/** The command that prints a completion for a shell. The script contains all words, so Tab does not start Node. */
export function addCompletionCommand(program: Command, run: Runner): void {
  program.commandsGroup('Use this command line:');
  describeCommand(program.command('completion'), {
    summary: 'print a script that completes commands when you press Tab',
    does: 'Prints a script that completes the commands, options, fixed values and files of "slipway" in a shell. Print it again after an upgrade. bash: write it to ~/.local/share/bash-completion/completions/slipway, or to another file that ~/.bashrc reads with "source". zsh: write it to a file _slipway in a folder of $fpath, or to a file that ~/.zshrc reads with "source" after compinit. fish: write it to ~/.config/fish/completions/slipway.fish. PowerShell: write it to a file slipway.ps1, and add a line with the path of that file to $PROFILE. The tests run the scripts for bash, zsh and fish in these shells, and only read the one for PowerShell.',
    effect: 'none. The command only prints.',
    examples: ['completion bash', 'completion zsh', 'completion fish', 'completion powershell'],
  })
    .addArgument(new Argument('<shell>', 'the shell').choices(SHELLS))
    .action(run(async () => (await import('./print.ts')).completion));
}
