/**
 * The interval at which a service asks for the next hint of a change, in milliseconds. CATALOG_POLL_INTERVAL overrides
 * it.
 *
 * So a change, such as a yank, is live after two intervals and the time to read it. When a hint was lost, the service
 * finds the change later: every half interval, it reads the list of applications or the next application. See
 * `keep-up.ts`.
 */
export const POLL_INTERVAL_MS = 2_000;
