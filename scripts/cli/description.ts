import type { Command } from 'commander';

/** The help of a command. */
export interface Description {
  /** A phrase for the list of commands. */
  readonly summary: string;
  /** What the command does. */
  readonly does: string;
  /** What that means for clients, users and the store. */
  readonly effect: string;
  /** Complete command lines, without the program's name. */
  readonly examples: readonly string[];
}

export function describeCommand(command: Command, description: Description): Command {
  const { summary, does, effect, examples } = description;
  const lines = examples.map((example) => `  slipway ${example}`);
  return command
    .summary(summary)
    .description(`${does}\n\nEffect: ${effect}`)
    .addHelpText('after', `\nExamples:\n${lines.join('\n')}`);
}
