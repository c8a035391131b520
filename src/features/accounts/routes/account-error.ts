import { AppError, isAppError } from '../../../core/errors.ts';
import { notSignedIn } from '../identity-errors.ts';

/**
 * Translates errors of accounts for clients: the account may have been erased, or the outcome of a change may be
 * unknown.
 */

/** True for the errors of an erased account. */
export function isErased(error: unknown): boolean {
  return isAppError(error, 'unknown_account') || isAppError(error, 'ended');
}

/**
 * Translates an error, for `catch`: an access token stays valid for some minutes after its account was erased.
 *
 * @throws AppError `not_signed_in` for an erased account; `store_unavailable` in place of `outcome_unknown`; any other
 *   error unchanged
 */
export function signedOutWhenErased(error: unknown): never {
  if (isErased(error)) throw notSignedIn(error);
  return tryAgainWhenUnknown(error);
}

/**
 * Translates an error, for `catch`: a person can act on "try again", but not on "the outcome is unknown".
 *
 * @throws AppError `store_unavailable` in place of `outcome_unknown`; any other error unchanged
 */
export function tryAgainWhenUnknown(error: unknown): never {
  if (!isAppError(error, 'outcome_unknown')) throw error;
  throw new AppError('store_unavailable', error.message, { cause: error });
}
