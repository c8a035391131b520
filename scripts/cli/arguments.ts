import { InvalidArgumentError } from 'commander';

/** A whole number from 1, of at most ten digits. */
export function parseCount(text: string): number {
  if (/^[1-9]\d{0,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number from 1, of at most ten digits.');
}
