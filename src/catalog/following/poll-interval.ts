/**
 * The interval at which a service asks for the next hint of a change, in milliseconds. CATALOG_POLL_INTERVAL overrides
 * it.
 *
 * So a change, such as a yank, is live within two intervals and the time to read it. A change whose hint was lost is
 * found in turn: every half interval the service reads the list of applications or one application. See `keep-up.ts`.
 */
export const POLL_INTERVAL_MS = 2_000;
