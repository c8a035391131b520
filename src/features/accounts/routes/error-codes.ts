import type { ErrorCode } from '../../../core/errors.ts';
import { READING, SIGNED_IN } from '../../../server/access/error-codes.ts';

/** Error codes of routes that change accounts: see also `server/access/error-codes.ts`. */

/** The codes of every route that writes to the store. Such a route reads documents before it writes. */
export const WRITING = [
  ...READING,
  'store_full',
  'store_nonconforming',
  'document_newer',
] as const satisfies readonly ErrorCode[];

/** The codes of every route that accepts a body, even if it ignores the body. */
export const WITH_BODY = [
  'malformed_json',
  'body_too_large',
  'unsupported_media_type',
] as const satisfies readonly ErrorCode[];

/** The codes of every route that requires an access token and changes something. */
export const SIGNED_IN_CHANGE = [
  ...SIGNED_IN,
  ...WRITING,
  ...WITH_BODY,
] as const satisfies readonly ErrorCode[];
