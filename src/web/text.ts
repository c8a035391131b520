import { html } from 'ghtml';
import { formatBytes } from '../core/counted.ts';
import { withoutReordering } from './plain-text.ts';

/** Renders values as HTML. */

/** Renders a text of a publisher. The direction of this text has no effect on the text around it. */
export function isolated(text: string): string {
  return html`<bdi>${withoutReordering(text)}</bdi>`;
}

const DAY = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' });
const MINUTE = new Intl.DateTimeFormat('en-GB', {
  dateStyle: 'long',
  timeStyle: 'short',
  timeZone: 'UTC',
});

/** `12 March 2026`. @param time RFC 3339 */
export function dayOf(time: string): string {
  return html`<time datetime="${time}">${DAY.format(new Date(time))}</time>`;
}

/** `12 March 2026 at 09:30 UTC`. @param time RFC 3339 */
export function minuteOf(time: string): string {
  return html`<time datetime="${time}">${MINUTE.format(new Date(time))} UTC</time>`;
}

/** `58.2 MB`, with the exact number of bytes. */
export function sizeOf(bytes: number): string {
  return html`<data value="${bytes}" title="${bytes.toLocaleString('en-GB')} bytes">${formatBytes(bytes)}</data>`;
}
