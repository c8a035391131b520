import { AppError } from '../core/errors.ts';
import { codeOf } from '../core/printable.ts';

/** The reasons that operators state for a change. */

/**
 * The longest reason, in bytes of UTF-8. It is bounded because every later revision of a catalog repeats the reason.
 */
export const REASON_BYTES_MAX = 300;

/**
 * The longest reason as JSON, with its quotes. JSON writes a quotation mark, a backslash, a tab and a line break with
 * two characters. It writes other control characters with six, but {@link checkReason} refuses these characters.
 */
export const REASON_JSON_BYTES_MAX = 2 * REASON_BYTES_MAX + 2;

/** Control characters other than tabs and line breaks. */
const CONTROL = /(?![\t\n\r])\p{Cc}/u;

/** @throws AppError `invalid_request` for a reason that is too long or has control characters */
export function checkReason(reason: string | null): void {
  const bytes = new TextEncoder().encode(reason ?? '').length;
  const control = CONTROL.exec(reason ?? '')?.[0];
  if (bytes > REASON_BYTES_MAX) {
    refuse(
      `The reason has ${bytes} bytes in UTF-8, and the history keeps at most ${REASON_BYTES_MAX}. Shorten it.`,
    );
  }
  if (control !== undefined) {
    refuse(`The reason has the control character ${codeOf(control)}. Remove it.`);
  }
}

function refuse(detail: string): never {
  throw new AppError('invalid_request', detail, { issues: [{ pointer: '/reason', detail }] });
}
