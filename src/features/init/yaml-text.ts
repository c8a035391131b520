import { stringify } from 'yaml';

/** A value for a line of YAML that is written by hand, in quotes where it needs them. */
export function yamlText(value: string): string {
  return stringify(value, { lineWidth: 0, defaultStringType: 'PLAIN' }).trimEnd();
}

/** A list in one line. */
export function yamlList(values: readonly string[]): string {
  return `[${values.map((value) => JSON.stringify(value)).join(', ')}]`;
}
