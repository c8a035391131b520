import { stringify } from 'yaml';

/** Formats a value for a line of YAML, in quotes when the value needs them. */
export function yamlText(value: string): string {
  return stringify(value, { lineWidth: 0, defaultStringType: 'PLAIN' }).trimEnd();
}

/** A list in one line. */
export function yamlList(values: readonly string[]): string {
  return `[${values.map((value) => JSON.stringify(value)).join(', ')}]`;
}
