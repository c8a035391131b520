import { AppError } from '../../core/errors.ts';

/** Errors that several files of this room throw. */

/** The error for an access token or developer key that is missing, not valid, or not valid any more. */
export function notSignedIn(cause?: unknown): AppError {
  return new AppError(
    'not_signed_in',
    'The access token or developer key is missing or not valid. Sign in, or refresh the session.',
    { cause },
  );
}

/** The error for a refresh token that is not valid, or not valid any more. */
export function sessionEnded(): AppError {
  return new AppError('session_ended', 'This session has ended. Sign in again.');
}

export function accountLocked(): AppError {
  return new AppError(
    'account_locked',
    'This account is locked. Ask the operator of this service.',
  );
}

export function unknownAccount(): AppError {
  return new AppError(
    'unknown_account',
    'There is no such account. "slipway accounts list" lists the accounts.',
  );
}
