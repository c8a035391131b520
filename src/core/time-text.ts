/** `2026-11-21 09:30:00Z` for a stored time. */
export function formatTime(iso: string): string {
  return iso.replace('T', ' ').replace(/(\.\d+)?Z$/, 'Z');
}

/** @param time milliseconds since the epoch */
export function isoOf(time: number): string {
  return new Date(time).toISOString();
}
