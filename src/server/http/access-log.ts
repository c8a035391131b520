import type { Clock } from '../../core/clock.ts';
import type { AnsweredRequest, NoteRequest } from './answered-requests.ts';

/** The access log: one JSON line for each answered request. */

/** Takes one line, with its line feed. Must not throw. */
type AccessLog = (line: string) => void;

export interface AccessLogSettings {
  /** `errors`: only answers with a status of 400 or above. */
  readonly requests: 'all' | 'errors';
  readonly write: AccessLog;
  readonly clock: Pick<Clock, 'now'>;
  /** The fields that every line of the process's log has, such as its id. */
  readonly facts: Readonly<Record<string, unknown>>;
}

/** The length is limited, because clients choose the addresses, and the operator pays for the log. */
const URL_LENGTH_MAX = 200;
const ERROR_STATUS_MIN = 400;
/** The level `info`, as pino numbers it. */
const LEVEL = 30;

/**
 * Creates the function that writes the lines of the access log. The lines look like lines of the process's log, but this
 * function joins them from text: pino would cost three times as much for every request.
 */
export function createAccessLog(settings: AccessLogSettings): NoteRequest {
  const { requests, write, clock } = settings;
  const facts = JSON.stringify(settings.facts).slice(1, -1);
  const constant = facts === '' ? '' : `${facts},`;
  return (answered) => {
    if (requests === 'errors' && answered.status < ERROR_STATUS_MIN) return;
    write(`{"level":${LEVEL},"time":${clock.now()},${constant}${describe(answered)}}\n`);
  };
}

/**
 * Escapes only the address: the other values contain no character that JSON escapes, because their parsers refuse such
 * characters.
 */
function describe({ id, method, url, address, status, durationMs }: AnsweredRequest): string {
  const remote = address === undefined ? '' : `"remote_address":"${address}",`;
  const milliseconds = Math.round(durationMs * 1000) / 1000;
  return `"request_id":"${id}","method":"${method}","url":${JSON.stringify(pathOf(url))},${remote}"status":${status},"duration_ms":${milliseconds},"msg":"request"`;
}

/** Leaves the query out: in a signed link it contains the signature, and clients may put secrets into it. */
function pathOf(url: string): string {
  const query = url.indexOf('?');
  return url.slice(0, query < 0 ? URL_LENGTH_MAX : Math.min(query, URL_LENGTH_MAX));
}
