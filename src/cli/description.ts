import type { Command } from 'commander';

/** The help of a command. */
export interface Description {
  /** A phrase for the list of commands. */
  readonly summary: string;
  /** Sentences that say what the command does. */
  readonly does: string;
  /** The effect on clients, users and the store. */
  readonly effect: string;
  /** Complete command lines, without the program's name. */
  readonly examples: readonly string[];
}

const descriptions = new WeakMap<Command, Description>();

/** @throws Error for a command that `describeCommand` has not described */
export function descriptionOf(command: Command): Description {
  const found = descriptions.get(command);
  if (found === undefined) throw new Error(`The command ${command.name()} has no description.`);
  return found;
}

export function describeCommand(command: Command, description: Description): Command {
  descriptions.set(command, description);
  const { summary, does, effect, examples } = description;
  const lines = examples.map((example) => `  slipway ${example}`);
  return command
    .summary(summary)
    .description(`${does}\n\nEffect: ${effect}`)
    .addHelpText('after', `\nExamples:\n${lines.join('\n')}`);
}
