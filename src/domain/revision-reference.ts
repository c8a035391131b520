import { AppError } from '../core/errors.ts';

/**
 * A person names a catalog revision by its number, or by a time at which it was the newest.
 *
 * The time is text here, so that the help of a command does not load the package that reads times.
 */
export type RevisionReference = { readonly revision: number } | { readonly time: string };

/**
 * Parses `12`, or a date and time with a zone, such as `2026-11-22T10:00:00Z`. A space between date and time is
 * possible too, because commands print times so.
 *
 * @throws AppError `invalid_request`, with advice
 */
export function parseRevisionReference(text: string): RevisionReference {
  const trimmed = text.trim();
  if (/^[1-9]\d{0,9}$/.test(trimmed)) return { revision: Number(trimmed) };
  if (/^\d{4}-\d{2}-\d{2}[T ]\S+$/.test(trimmed) && /(Z|[+-]\d{2}:\d{2})$/.test(trimmed)) {
    return { time: trimmed.replace(' ', 'T') };
  }
  throw refuseReference(text, adviceFor(trimmed));
}

function adviceFor(text: string): string {
  if (/^\d{4}-\d{2}-\d{2}$/.test(text)) {
    return `A day has many revisions: add the time of day and the zone, such as ${text}T10:00:00Z.`;
  }
  if (/^\d{4}-\d{2}-\d{2}[T ][\d:.]+$/.test(text)) {
    return `Add the zone, because this time is another moment elsewhere: ${text.replace(' ', 'T')}Z for UTC, or an offset such as +02:00.`;
  }
  return 'Write the number of a catalog revision; "slipway history" lists them. Or write a date and time with a zone, such as 2026-11-22T10:00:00Z.';
}

/** The error for a text that is neither a number nor a time. */
export function refuseReference(text: string, advice: string): AppError {
  const detail = `${JSON.stringify(text.slice(0, 80))} names no catalog revision. ${advice}`;
  return new AppError('invalid_request', detail, { issues: [{ pointer: '/at', detail }] });
}
