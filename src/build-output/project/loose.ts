/** Values from outside, of which only the wanted parts are looked at. */

/** A value of a configuration, of which nothing is known. */
export type Loose = Readonly<Record<string, unknown>>;

export function isRecord(value: unknown): value is Loose {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value as a record; an empty one for anything else. */
export function recordOf(value: unknown): Loose {
  return isRecord(value) ? value : {};
}

/** The text of a value; undefined for anything else, and for empty text. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
}
