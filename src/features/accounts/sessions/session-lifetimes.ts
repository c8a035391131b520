/** The times for which sessions and their refresh tokens are valid. */

const DAY_MS = 86_400_000;

/** A session expires when no client refreshes it for this long. */
export const SESSION_IDLE_MS = 30 * DAY_MS;
/** A session expires this long after it began, however often it is refreshed. */
export const SESSION_LIFE_MS = 90 * DAY_MS;
/**
 * When a client uses a token again within this time after the exchange, it gets the same answer. The first answer may
 * have been lost, or two tabs of one client may have refreshed at once. The service takes a later use for theft, and
 * ends the session.
 */
export const REFRESH_GRACE_MS = 60_000;
/** The time for which the service keeps the end marker of a session: longer than any token of the session is valid. */
export const SESSION_END_KEPT_MS = SESSION_LIFE_MS + DAY_MS;
