import { PageSession } from './page-session.ts';
import type { Session, SessionOptions } from './session-role.ts';

export type { Account, Session, SessionOptions, SessionState } from './session-role.ts';

/**
 * Manages the session of the visitor who uses this page: signs in and out, and renews the access token before it
 * expires.
 *
 * In cookie mode the refresh token is a cookie that no script can read, and all tabs of the website share the session.
 * Otherwise the refresh token stays in the memory of this tab, and for the visitor the session ends when the tab
 * closes. The service's answer decides between these two modes. The page never stores a token.
 */

/** Creates the session of a page with a service, once for each service. The session lives as long as the page. */
export function createSession(options: SessionOptions): Session {
  return new PageSession(options);
}
