import type { IncomingMessage, ServerResponse } from 'node:http';
import helmet from 'helmet';

/**
 * The security headers of every answer, by lower-case name. A page may replace one, such as its own content security
 * policy.
 *
 * Helmet names them once: they are the same for all requests, and calling it for each costs as much as an answer.
 */
export const SECURITY_HEADERS = readHelmet();

/**
 * Those that matter to an answer that no browser shows as a page, such as JSON. Browsers ignore the others there, and
 * millions of answers would carry them.
 */
export const DATA_SECURITY_HEADERS = pick([
  'content-security-policy',
  'cross-origin-resource-policy',
  'referrer-policy',
  'strict-transport-security',
  'x-content-type-options',
]);

function pick(names: readonly string[]): Readonly<Record<string, string>> {
  const chosen = Object.entries(SECURITY_HEADERS).filter(([name]) => names.includes(name));
  if (chosen.length < names.length) throw new Error('Helmet does not name all of these headers.');
  return Object.fromEntries(chosen);
}

function readHelmet(): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {};
  const recorder = {
    setHeader: (name: string, value: string) => {
      headers[name.toLowerCase()] = value;
    },
    removeHeader: () => {},
  };
  const apply = helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: { 'default-src': ["'none'"], 'frame-ancestors': ["'none'"] },
    },
    // Pages of other origins may read the answers.
    crossOriginResourcePolicy: { policy: 'cross-origin' },
  });
  apply({} as IncomingMessage, recorder as unknown as ServerResponse, (error) => {
    if (error !== undefined) throw error;
  });
  return headers;
}
