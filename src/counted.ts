/** `1 problem`, `2 problems`, `0 problems`: a count with its noun, for messages. */
export function counted(count: number, singular: string, plural = `${singular}s`): string {
  return `${count} ${count === 1 ? singular : plural}`;
}
