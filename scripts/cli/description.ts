import type { Command } from 'commander';

/** What the help of a command says. */
export interface Description {
  /** A few words for the list of commands. */
  readonly summary: string;
  /** What the command does. */
  readonly does: string;
  /** What that means afterwards: for clients, for users, for the store. */
  readonly effect: string;
  /** Command lines that can be typed as they are, without the program's name. */
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
