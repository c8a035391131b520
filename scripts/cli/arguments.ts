import { type Command, InvalidArgumentError } from 'commander';

/** A whole number from 1, of at most ten digits. */
export function parseCount(text: string): number {
  if (/^[1-9]\d{0,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number from 1, of at most ten digits.');
}

/** The options that every command has which changes what is offered. */
export interface ChangeOptions {
  readonly skipCorrupt?: readonly number[];
  readonly json: boolean;
}

export function addChangeOptions(command: Command): Command {
  return command
    .option(
      '--skip-corrupt <number>',
      'go on from before this document, which is proven corrupt and whose change is lost; repeatable',
      (text: string, before: readonly number[] = []) => [...before, parseCount(text)],
    )
    .option('--json', 'print JSON', false);
}
