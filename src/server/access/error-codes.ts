import type { ErrorCode } from '../../core/errors.ts';

/** Error codes that several routes for accounts can answer; each route adds its own codes. */

/** For every route that reads from the store. */
export const READING = [
  'store_unavailable',
  'store_denied',
] as const satisfies readonly ErrorCode[];

/** For every route about accounts. */
export const ACCOUNTS = [
  'too_many_requests',
  'not_configured',
] as const satisfies readonly ErrorCode[];

/** For every route that requires an access token. */
export const SIGNED_IN = [
  ...ACCOUNTS,
  ...READING,
  'not_signed_in',
] as const satisfies readonly ErrorCode[];
