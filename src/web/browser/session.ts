import { PageSession } from './page-session.ts';
import type { Session, SessionOptions } from './session-role.ts';

export type { Account, Session, SessionOptions, SessionState } from './session-role.ts';

/**
 * The session of the visitor who uses this page: signs in and out, and renews the access token before it expires.
 *
 * In cookie mode the refresh token is a cookie that no script can read, and all tabs of the website share the session.
 * Otherwise the refresh token stays in the memory of this tab, and the session ends for the visitor with the tab. The
 * service's answer says which of the two it is. No token is ever stored.
 */

/** One for each service and page: it lives as long as the page. */
export function createSession(options: SessionOptions): Session {
  return new PageSession(options);
}
