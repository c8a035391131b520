import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/**
 * Keeps the request id of a proxy, so that all logs share it; replaces an id that is not plain text. Node reads random
 * bytes for 128 ids at a time, so that an id needs no system call.
 */
export function requestIdOf({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && /^[\w.:-]{1,64}$/.test(given) ? given : randomUUID();
}
