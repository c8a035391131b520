import type { ServerResponse } from 'node:http';
import type { HeaderRecord } from '../../../answers/answer.ts';
import type { Clock } from '../../../core/clock.ts';
import { nodeInternals } from '../../limits/node-internals.ts';
import { DATA_SECURITY_HEADERS } from '../security-headers.ts';

/** Headers that many answers share: checked and joined once, and then written as one text. */

export interface PreparedHeaders {
  readonly record: HeaderRecord;
  /** The headers as lines of `name: value` and CR LF. Undefined when a value has other characters than ASCII. */
  readonly text: string | undefined;
}

/**
 * The headers of an answer, with the security headers of data.
 *
 * @param own the other headers of the answer: `content-type` when it has a body, and the `OPEN_HEADERS` of `cors.ts`
 *   for an open path
 */
export function prepareHeaders(own: HeaderRecord): PreparedHeaders {
  const record = { ...DATA_SECURITY_HEADERS, ...own };
  return { record, text: textOf(record) };
}

/** The characters that a value may have. With a line feed, a value could add headers of its own. */
const PRINTABLE = /^[\x20-\x7e]*$/;

function textOf(headers: HeaderRecord): string | undefined {
  let text = '';
  for (const name in headers) {
    const value = headers[name] ?? '';
    if (!PRINTABLE.test(value)) return undefined;
    text += `${name}: ${value}\r\n`;
  }
  return text;
}

/** The headers that differ between two answers. `own`: such as Location. */
export interface OwnHeaders {
  readonly id: string;
  /** In bytes; undefined when the status allows no body. */
  readonly length: number | undefined;
  readonly own: HeaderRecord | undefined;
  /** The value of Date; undefined: the value that Node makes. */
  readonly date: string | undefined;
}

/**
 * Writes the status and the headers of a response.
 *
 * Node's `writeHead` checks and joins every header again, which takes as long as the rest of a small answer. So this
 * function writes the headers of an ordinary response as the text that was joined before: see {@link nodeInternals}.
 */
export function writeHead(
  response: ServerResponse,
  status: number,
  prepared: PreparedHeaders,
  { id, length, own, date }: OwnHeaders,
): void {
  const ownText = own === undefined ? '' : textOf(own);
  if (date !== undefined && prepared.text !== undefined && ownText !== undefined) {
    const lengthText = length === undefined ? '' : `content-length: ${length}\r\n`;
    const headers = `${prepared.text}${ownText}x-request-id: ${id}\r\n${lengthText}Date: ${date}\r\n`;
    if (nodeInternals.writeHeadText(response, status, headers)) return;
  }
  response.writeHead(status, {
    ...prepared.record,
    ...own,
    'x-request-id': id,
    ...(length === undefined ? {} : { 'content-length': String(length) }),
  });
}

/**
 * Creates a function that returns the time as the value of Date (RFC 9110, section 5.6.7). The value changes once a
 * second.
 */
export function createDateText(clock: Pick<Clock, 'now'>): () => string {
  let text = '';
  let since = Number.NaN;
  return () => {
    const second = Math.floor(clock.now() / 1000);
    if (second !== since) text = new Date(second * 1000).toUTCString();
    since = second;
    return text;
  };
}
