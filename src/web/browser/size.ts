const UNITS = ['kB', 'MB', 'GB', 'TB'];

/** @param bytes 81788928 is `81.8 MB` */
export function size(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`;
  let value = bytes / 1000;
  let unit = 0;
  while (value >= 999.95 && unit < UNITS.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${value.toFixed(1)} ${UNITS[unit]}`;
}
