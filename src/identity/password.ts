import argon2 from 'argon2';
import pLimit from 'p-limit';
import { AppError } from '../errors.ts';

/** Password hashes: Argon2id, with the parameters OWASP gives for 19 MiB. */

const OPTIONS = { type: argon2.argon2id, memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;
export const PASSWORD_LENGTH_MIN = 8;
/** Bytes. Longer ones would only make the hash dearer. */
export const PASSWORD_BYTES_MAX = 256;
/** Log-ins that wait for their turn; a storm of them must not fill the memory. */
const WAITING_MAX = 50;
const RETRY_AFTER_SECONDS = 5;

/** Hashes off the event loop, few at a time. */
export interface PasswordHasher {
  /** The hash in PHC form. @throws AppError `overloaded` */
  hash(password: string): Promise<string>;
  /**
   * Whether the password is the one; with no hash, `false` after the same time.
   *
   * @throws AppError `overloaded`
   */
  verify(hash: string | null, password: string): Promise<boolean>;
}

/** @param atOnce how many hashes are worked on; fewer than there are cores leaves some to answer with */
export function createPasswordHasher(atOnce = 1): PasswordHasher {
  const limit = pLimit(atOnce);
  // A hash that no password has, made with the same parameters: an unknown address costs as much.
  let nobody: Promise<string> | undefined;
  const turn = <T>(work: () => Promise<T>): Promise<T> => {
    if (limit.pendingCount >= WAITING_MAX) {
      throw new AppError('overloaded', 'Too many people are signing in. Try again shortly.', {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      });
    }
    return limit(work);
  };
  const hashNow = (password: string): Promise<string> => argon2.hash(password, OPTIONS);
  return {
    hash: async (password) => turn(() => hashNow(password)),
    verify: async (hash, password) => {
      nobody ??= hashNow('nobody');
      const known = hash ?? (await nobody);
      const isRight = await turn(() => argon2.verify(known, password));
      return isRight && hash !== null;
    },
  };
}

/** @throws AppError `weak_password` */
export function checkPassword(password: string): void {
  const isLongEnough = [...password].length >= PASSWORD_LENGTH_MIN;
  if (isLongEnough && Buffer.byteLength(password) <= PASSWORD_BYTES_MAX) return;
  const detail = `A password has at least ${PASSWORD_LENGTH_MIN} characters, and at most ${PASSWORD_BYTES_MAX} bytes.`;
  throw new AppError('weak_password', detail, { issues: [{ pointer: '/password', detail }] });
}
