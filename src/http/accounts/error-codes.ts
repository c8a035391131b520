import type { ErrorCode } from '../../errors.ts';

/** Error codes that several routes about accounts can answer; each route adds its own. */

/** Of every route that reads from the store. */
const READING = ['store_unavailable', 'store_denied'] as const satisfies readonly ErrorCode[];

/** For every route that writes to the store. Such a route reads documents first. */
export const WRITING = [
  ...READING,
  'store_full',
  'store_nonconforming',
  'document_newer',
] as const satisfies readonly ErrorCode[];

/** For every route that accepts a body, even if it ignores the body. */
export const WITH_BODY = [
  'malformed_json',
  'body_too_large',
  'unsupported_media_type',
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

/** For every route that requires an access token and changes something. */
export const SIGNED_IN_CHANGE = [
  ...SIGNED_IN,
  ...WRITING,
  ...WITH_BODY,
] as const satisfies readonly ErrorCode[];
