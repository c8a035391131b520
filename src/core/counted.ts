/** `1 problem`, `2 problems`, `0 problems`: a count with its noun, for messages. */
export function counted(count: number, singular: string, plural = `${singular}s`): string {
  return `${count} ${count === 1 ? singular : plural}`;
}

/** `1.0.0, 1.1.0 and 3 more`: the first names of a list that may have thousands, for messages. */
export function listed(names: readonly string[], shownMax = 10): string {
  const more = names.length - shownMax;
  return `${names.slice(0, shownMax).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'] as const;

/** `58.2 MB`, in powers of ten. */
export function formatBytes(bytes: number): string {
  const power = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), UNITS.length - 1);
  const value = bytes / 1000 ** power;
  return `${power === 0 ? value : value.toFixed(1)} ${UNITS[power]}`;
}
