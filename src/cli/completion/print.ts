import type { Command } from 'commander';
import type { Terminal } from '../terminal.ts';
import { renderBash } from './bash.ts';
import { renderFish } from './fish.ts';
import { readGrammar, type TypedCommand } from './grammar.ts';
import { renderPowerShell } from './powershell.ts';
import type { Shell } from './shells.ts';
import { renderZsh } from './zsh.ts';

const RENDERERS: Readonly<Record<Shell, (grammar: readonly TypedCommand[]) => string>> = {
  bash: renderBash,
  zsh: renderZsh,
  fish: renderFish,
  powershell: renderPowerShell,
};

export async function completion(
  terminal: Terminal,
  shell: Shell,
  _options: object,
  command: Command,
): Promise<void> {
  const program = command.parent ?? command;
  terminal.stdout.write(RENDERERS[shell](readGrammar(program)));
}
