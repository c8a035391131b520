/** Hints for an unknown name: the known names, and the names that are similar to the unknown name. */

const HINTS_MAX = 3;
const EDITS_MAX = 2;

/** `Did you mean beta? Channels: stable, beta.`; `There are none yet.` without names. */
export function known(noun: string, names: readonly string[], wanted?: string): string {
  const hint = wanted === undefined ? '' : didYouMean(wanted, names);
  return names.length === 0 ? 'There are none yet.' : `${hint}${noun}: ${names.join(', ')}.`;
}

/** `Did you mean 1.6.0 or 1.6.1? `, with its space; empty when no name is close. */
export function didYouMean(wanted: string, names: readonly string[]): string {
  const distances = names
    .map((name) => ({ name, edits: editsBetween(wanted, name) }))
    .filter(({ name, edits }) => edits <= Math.min(EDITS_MAX, name.length - 1));
  const best = Math.min(...distances.map(({ edits }) => edits));
  const closest = distances.filter(({ edits }) => edits === best).map(({ name }) => name);
  if (closest.length === 0 || closest.length > HINTS_MAX) return '';
  return `Did you mean ${closest.join(' or ')}? `;
}

/** The number of characters to insert, remove, replace, or swap with the next character (optimal string alignment). */
function editsBetween(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > EDITS_MAX) return EDITS_MAX + 1;
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const isEqual = a[i - 1] === b[j - 1];
      const isSwapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      next[j] = Math.min(
        (row[j] ?? 0) + 1,
        (next[j - 1] ?? 0) + 1,
        (row[j - 1] ?? 0) + (isEqual ? 0 : 1),
        isSwapped && i > 1 && j > 1 ? (before[j - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    [before, row] = [row, next];
  }
  return row[b.length] ?? 0;
}
