import { randomBytes } from 'node:crypto';
import argon2 from 'argon2';
import pLimit from 'p-limit';
import { AppError } from '../../errors.ts';

/** Password hashes: Argon2id, with the parameters OWASP gives for 19 MiB. */

/** What one hash costs. */
export interface PasswordCost {
  /** KiB. */
  readonly memoryCost: number;
  /** Passes over the memory. */
  readonly timeCost: number;
}

const COST: PasswordCost = { memoryCost: 19_456, timeCost: 2 };
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

/**
 * @param options.atOnce how many hashes are worked on; fewer than there are cores leaves some to answer with
 * @param options.cost cheaper in tests only: the hashes of real passwords must be expensive to guess
 */
export function createPasswordHasher({ atOnce = 1, cost = COST } = {}): PasswordHasher {
  const limit = pLimit(atOnce);
  const options = { type: argon2.argon2id, parallelism: 1, ...cost } as const;
  const nobody = renderHashOfNobody(options);
  const turn = <T>(work: () => Promise<T>): Promise<T> => {
    if (limit.pendingCount >= WAITING_MAX) {
      throw new AppError('overloaded', 'Too many people are signing in. Try again shortly.', {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      });
    }
    return limit(work);
  };
  return {
    hash: async (password) => turn(() => argon2.hash(typed(password), options)),
    verify: async (hash, password) => {
      const isRight = await turn(() => argon2.verify(hash ?? nobody, typed(password)));
      return isRight && hash !== null;
    },
  };
}

/** One text, whichever way a keyboard composes its accents (RFC 8265, section 4.2). */
function typed(password: string): string {
  return password.normalize('NFC');
}

/** A hash that no password has, with the same parameters: an unknown address costs as much. */
function renderHashOfNobody({
  memoryCost,
  timeCost,
  parallelism,
}: PasswordCost & { readonly parallelism: number }): string {
  const part = (bytes: number): string => randomBytes(bytes).toString('base64').replace(/=+$/, '');
  return `$argon2id$v=19$m=${memoryCost},p=${parallelism},t=${timeCost}$${part(16)}$${part(32)}`;
}
