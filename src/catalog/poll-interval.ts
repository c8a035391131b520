/** How soon a running service learns of a change: the numbers that the settings and messages state. */

/**
 * How often a service asks for the next hint of a change, in milliseconds; CATALOG_POLL_INTERVAL sets
 * another. Twice as often, the list of applications or one application is read in turn, which finds a change
 * whose hint was lost. See `keep-up.ts`.
 */
export const POLL_INTERVAL_MS = 2_000;

/**
 * Within this time a service with the interval above answers from a change whose hint was stored, in
 * seconds: two jittered intervals, for one poll may just have passed, and the time of the reads.
 */
export const LIVE_WITHIN_SECONDS = 5;
