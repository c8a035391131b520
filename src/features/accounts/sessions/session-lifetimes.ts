/** The times for which sessions and their refresh tokens are valid. */

const DAY_MS = 86_400_000;

/** A session that is not refreshed for this long has expired. */
export const SESSION_IDLE_MS = 30 * DAY_MS;
/** A session expires this long after it began, however often it is refreshed. */
export const SESSION_LIFE_MS = 90 * DAY_MS;
/**
 * For this long after a token was exchanged, another use of it gets the same answer. The first answer may have been
 * lost, or two tabs of one client may have refreshed at once. A later use is theft, and ends the session.
 */
export const REFRESH_GRACE_MS = 60_000;
/** The time for which the end marker of a session is kept: longer than any of its tokens is valid. */
export const SESSION_END_KEPT_MS = SESSION_LIFE_MS + DAY_MS;
