import { createHash } from 'node:crypto';
import path from 'node:path';

/** Files in which processes remember a store. */

/**
 * The directory for the files about one store.
 *
 * @param deps.location the location of the store
 */
export function stateDirectoryOf(deps: {
  readonly directory: string;
  readonly location: string;
}): string {
  const place = createHash('sha256').update(deps.location).digest('hex').slice(0, 16);
  return path.join(deps.directory, place);
}

/**
 * Renders a file whose first line is the SHA-256 of the rest, so that a reader can treat a truncated or edited file as
 * missing.
 */
export function renderStateFile(content: object): readonly string[] {
  const json = JSON.stringify(content);
  return [`${sha256(json)}\n`, json];
}

/** @returns undefined for a text that {@link renderStateFile} has not made */
export function parseStateFile(text: string): unknown {
  const json = text.slice(65);
  if (text.slice(0, 64) !== sha256(json)) return undefined;
  try {
    return JSON.parse(json);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
