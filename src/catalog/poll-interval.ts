/**
 * How often a service asks for the next hint of a change, in milliseconds; CATALOG_POLL_INTERVAL sets
 * another. Twice as often, the list of applications or one application is read in turn, which finds a change
 * whose hint was lost. See `keep-up.ts`.
 */
export const POLL_INTERVAL_MS = 2_000;
