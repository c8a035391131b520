import type { IncomingMessage, ServerResponse } from 'node:http';
import helmet from 'helmet';

/**
 * The security headers of every answer, by lower-case name. A page may replace one, such as its own content security
 * policy.
 *
 * Helmet names them once: they are the same for all requests, and calling it for each costs as much as an answer.
 */
export const SECURITY_HEADERS = readHelmet();

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
