/** How long a presigned URL is valid. */

const MINUTE_MS = 60_000;

/** Links are signed once per window. A window starts at a multiple of this length since the Unix epoch. */
export const LINK_WINDOW_MS = 20 * MINUTE_MS;

/** The shortest time for which a link is still valid when a client gets it, unless the store's credentials end sooner. */
export const LINK_REMAINING_MIN_MS = 10 * MINUTE_MS;

/** The longest time for which a link is valid. */
const LINK_LIFETIME_MS = LINK_WINDOW_MS + LINK_REMAINING_MIN_MS;

/** @param now milliseconds since the Unix epoch */
export function windowStartAt(now: number): number {
  return now - (now % LINK_WINDOW_MS);
}

/**
 * The lifetime of the links that are signed in a window. It depends on the window alone, so that every
 * replica signs the same URL and a CDN can cache the file under it.
 *
 * @param windowStart milliseconds since the Unix epoch
 */
export function linkLifetime(windowStart: number): {
  readonly signedAt: Date;
  readonly expiresAt: Date;
} {
  return { signedAt: new Date(windowStart), expiresAt: new Date(windowStart + LINK_LIFETIME_MS) };
}
