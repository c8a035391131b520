import { isAppError } from '../../core/errors.ts';
import { parseApplicationName } from '../../domain/channel.ts';
import { refuseReservedName } from '../../domain/reserved-name.ts';
import type { Stated } from './project.ts';

const LENGTH_MAX = 64;

/** An application name, made from the first usable name; undefined: no name is usable. */
export function applicationNameOf(names: readonly Stated[]): Stated | undefined {
  for (const { text, source } of names) {
    const name = plainName(text);
    if (isUsable(name)) return { text: name, source };
  }
  return undefined;
}

/** `my-app` for `My App`, `@acme/my-app` and `Mÿ  App!`. */
function plainName(text: string): string {
  return text
    .replace(/^@[^/]*\//, '')
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .replace(/[^a-z0-9._-]+/g, '-')
    .replace(/\.{2,}/g, '.')
    .slice(0, LENGTH_MAX)
    .replace(/^[^a-z0-9]+|[^a-z0-9]+$/g, '');
}

function isUsable(name: string): boolean {
  try {
    refuseReservedName(parseApplicationName(name));
    return true;
  } catch (error) {
    if (isAppError(error, 'invalid_name')) return false;
    throw error;
  }
}

/**
 * The last part of `com.example.notes`. Identifiers on macOS often end with `.app`, and that part names no application.
 */
export function nameInIdentifier(identifier: string): string {
  const parts = identifier.split('.').filter((part) => !/^(app|desktop)$/i.test(part));
  return parts.at(-1) ?? '';
}
