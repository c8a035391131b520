/** Prepares texts from outside for a page. */

/** Invisible characters, which can reorder the text beside a name, and so disguise the name (CVE-2021-42574). */
const INVISIBLE = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]+/gu;
const LENGTH_MAX = 240;

/** @returns the text in one line, without invisible control characters; a long text ends with "…" */
export function plain(text: unknown): string {
  const line = String(text ?? '').replace(INVISIBLE, ' ');
  if (line.length <= LENGTH_MAX) return line;
  // Removes the first half of a character that the cut has split.
  return `${line.slice(0, LENGTH_MAX).replace(/[\ud800-\udbff]$/, '')}…`;
}
