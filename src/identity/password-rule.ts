import { AppError } from '../errors.ts';

/** What a password must be like. */

export const PASSWORD_LENGTH_MIN = 8;
/** Bytes. Longer ones would only make the hash dearer. */
export const PASSWORD_BYTES_MAX = 256;

/** @throws AppError `weak_password` */
export function checkPassword(password: string): void {
  const isLongEnough = [...password].length >= PASSWORD_LENGTH_MIN;
  if (isLongEnough && Buffer.byteLength(password) <= PASSWORD_BYTES_MAX) return;
  const detail = `A password has at least ${PASSWORD_LENGTH_MIN} characters, and at most ${PASSWORD_BYTES_MAX} bytes.`;
  throw new AppError('weak_password', detail, { issues: [{ pointer: '/password', detail }] });
}
