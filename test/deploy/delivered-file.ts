import { readFileSync } from 'node:fs';
import path from 'node:path';

/** The files of `deploy/`, as tests use them. */

export const DEPLOY = path.join(import.meta.dirname, '../../deploy');

export const readDelivered = (file: string): string =>
  readFileSync(path.join(DEPLOY, file), 'utf8');

/**
 * Replaces parts of a delivered file: ports, paths and addresses, which differ in a test. Everything else stays, so
 * that the test is about the delivered file.
 *
 * @param replacements each replaces every occurrence of a text
 * @throws when a text is not in the file: the test would then be about another file
 */
export function replaceParts(
  file: string,
  text: string,
  replacements: readonly (readonly [from: string, to: string])[],
): string {
  return replacements.reduce((replaced, [from, to]) => {
    if (!text.includes(from)) throw new Error(`deploy/${file} has no ${JSON.stringify(from)}`);
    return replaced.replaceAll(from, to);
  }, text);
}
