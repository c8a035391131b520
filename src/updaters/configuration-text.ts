import { stringify } from 'yaml';
import { isRecord } from '../core/json-record.ts';
import type { ConfigurationFile } from '../domain/configuration-file.ts';

/** Entries of a build tool's configuration, in the syntax of its file. */

export interface Entries {
  readonly [key: string]: string | boolean | readonly string[] | Entries;
}

/**
 * Text to paste. In JSON, the text is a whole object, because JSON allows no comma after the last entry. In a program
 * and in JSON5, each entry ends with a comma.
 */
export function configurationText(
  { syntax, below }: Pick<ConfigurationFile, 'syntax' | 'below'>,
  entries: Entries,
): string {
  const placed = below === undefined ? entries : { [below]: entries };
  switch (syntax) {
    case 'yaml':
      return stringify(placed, { lineWidth: 0 }).trimEnd();
    case 'json':
      return JSON.stringify(placed, null, 2);
    case 'toml':
      return tomlLines(placed, []).join('\n').trim();
    case 'javascript':
      return literalLines(placed, '').join('\n');
  }
}

/**
 * `JSON.stringify` writes valid values, because a basic string of TOML has the escapes of JSON. The entries of a table
 * go before the tables below it.
 */
function tomlLines(entries: Entries, path: readonly string[]): readonly string[] {
  const all = Object.entries(entries);
  const own = all.filter(([, value]) => !isRecord(value));
  return [
    ...(own.length === 0 || path.length === 0 ? [] : ['', `[${path.join('.')}]`]),
    ...own.map(([key, value]) => `${key} = ${JSON.stringify(value)}`),
    ...all.flatMap(([key, value]) => (isRecord(value) ? tomlLines(value, [...path, key]) : [])),
  ];
}

/** The entries of an object literal of JavaScript, which JSON5 takes as well. */
function literalLines(entries: Entries, indent: string): readonly string[] {
  return Object.entries(entries).flatMap(([key, value]) =>
    isRecord(value)
      ? [`${indent}${key}: {`, ...literalLines(value, `${indent}  `), `${indent}},`]
      : [`${indent}${key}: ${literal(value)},`],
  );
}

function literal(value: string | boolean | readonly string[]): string {
  if (typeof value === 'boolean') return String(value);
  if (typeof value === 'string') return `'${value.replace(/['\\]/g, '\\$&')}'`;
  return `[${value.map(literal).join(', ')}]`;
}
