/** The largest request bodies that routes read, in bytes. The service answers 413 to a larger body. */
export const BODY_BYTES_MAX = {
  /** For routes without a limit of their own. Apart from the console, no route reads a larger body into memory. */
  any: 64 * 1024,
  /** A check states some ten short texts. Clients send it more often than all other bodies. */
  check: 16 * 1024,
  /** An updater states about as much as a check. Its dialect parses the body, which may be of any type. */
  feed: 16 * 1024,
  /**
   * A message of the longest length, and the token of a captcha. The visitor is unknown, so the limit has no reserve.
   */
  contact: 32 * 1024,
  /** Notes of the longest length, with every character escaped in JSON. Only the console of this machine takes them. */
  console: 512 * 1024,
} as const;
