import { InvalidArgumentError } from 'commander';

/** A whole number from 1, of at most nine digits. */
export function parseCount(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number from 1.');
}
