/** The forms in which the console writes values. */

const DAY_S = 86_400;

/** @param share in 1/100 %: 2550 becomes `25.5 %` */
export function percent(share: number): string {
  const value = share / 100;
  return `${Number.isInteger(value) ? value : value.toFixed(2).replace(/0$/, '')} %`;
}

/** @param part from 0 to 1; null for none */
export function portion(part: number | null): string {
  if (part === null) return '–';
  return part > 0 && part < 0.001 ? '< 0.1 %' : `${(part * 100).toFixed(1)} %`;
}

export const count = (value: number): string => value.toLocaleString('en');

export const counted = (value: number, one: string, many = `${one}s`): string =>
  `${count(value)} ${value === 1 ? one : many}`;

const SPANS: readonly [limit: number, unit: number, one: string][] = [
  [60, 1, 'second'],
  [3600, 60, 'minute'],
  [DAY_S, 3600, 'hour'],
  [60 * DAY_S, DAY_S, 'day'],
  [730 * DAY_S, 30 * DAY_S, 'month'],
  [Number.POSITIVE_INFINITY, 365 * DAY_S, 'year'],
];

/** @param at and `now` in milliseconds since the epoch. @returns a text such as `3 minutes ago` or `in 2 days` */
export function relative(at: number, now: number): string {
  const seconds = Math.round((now - at) / 1000);
  if (Math.abs(seconds) < 2) return 'now';
  const text = span(Math.abs(seconds));
  return seconds > 0 ? `${text} ago` : `in ${text}`;
}

/** @returns a text such as `40 seconds` */
export function span(seconds: number): string {
  const [, unit, one] = SPANS.find(([limit]) => seconds < limit) ?? [0, 1, 'second'];
  return counted(Math.floor(seconds / unit), one);
}

const DATE = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric' });
const CLOCK = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });

const SHORT = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });

export const shortDate = (at: number): string => SHORT.format(at);
export const dayAndHour = (at: number): string => `${SHORT.format(at)} ${CLOCK.format(at)}`;
export const dateOf = (at: number): string => DATE.format(at);
export const dateAndTime = (at: number): string => `${DATE.format(at)}, ${CLOCK.format(at)}`;

/**
 * Replaces each time in a sentence of the server, such as `2026-11-25 15:25:01Z`, by the result of {@link dateAndTime}.
 */
export const withLocalTimes = (text: string): string =>
  text.replace(/\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ/g, (time) =>
    dateAndTime(Date.parse(time.replace(' ', 'T'))),
  );

/** @returns a text such as `2026-11-22 14:03:12 UTC` */
export const utc = (iso: string): string => {
  const at = new Date(iso);
  return Number.isNaN(at.getTime())
    ? iso
    : `${at.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
};

/** @returns `a`, `a and b`, `a, b and c` */
export const listed = (items: readonly string[]): string =>
  items.length < 2
    ? (items[0] ?? '')
    : `${items.slice(0, -1).join(', ')} and ${items[items.length - 1]}`;
