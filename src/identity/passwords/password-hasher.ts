import { randomBytes } from 'node:crypto';
import argon2 from 'argon2';
import pLimit from 'p-limit';
import { AppError } from '../../errors.ts';

/** Password hashes: Argon2id, with the parameters that OWASP recommends for 19 MiB of memory. */

/** The cost of computing one hash. */
export interface PasswordCost {
  /** KiB. */
  readonly memoryCost: number;
  /** Passes over the memory. */
  readonly timeCost: number;
}

const COST: PasswordCost = { memoryCost: 19_456, timeCost: 2 };
/** Bounded, so that many concurrent sign-ins cannot use up the memory. */
const WAITING_MAX = 50;
const RETRY_AFTER_SECONDS = 5;

/** Does the work when no other process of the service needs the processor for a hash. */
export type HashTurn = <T>(work: () => Promise<T>) => Promise<T>;

/** Computes hashes outside the event loop, a few at a time. */
export interface PasswordHasher {
  /** The hash in PHC form. @throws AppError `overloaded` */
  hash(password: string): Promise<string>;
  /**
   * Whether the hash is the password's. Without a hash: `false`, after the same time.
   *
   * @throws AppError `overloaded`
   */
  verify(hash: string | null, password: string): Promise<boolean>;
}

/**
 * @param options.atOnce how many hashes are computed at once; fewer than the cores, so that requests are answered
 * @param options.cost lower only in tests: the cost makes it slow to guess the password of a stolen hash
 * @param options.inTurn waits for a turn among the processes of one service; default: there is no other
 */
export function createPasswordHasher({
  atOnce = 1,
  cost = COST,
  inTurn,
}: {
  readonly atOnce?: number;
  readonly cost?: PasswordCost | undefined;
  readonly inTurn?: HashTurn | undefined;
} = {}): PasswordHasher {
  const limit = pLimit(atOnce);
  const options = { type: argon2.argon2id, parallelism: 1, ...cost } as const;
  const unmatched = renderUnmatchedHash(options);
  const turn = <T>(work: () => Promise<T>): Promise<T> => {
    if (limit.pendingCount >= WAITING_MAX) {
      throw new AppError('overloaded', 'Too many sign-ins are waiting. Try again shortly.', {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      });
    }
    return limit(() => (inTurn === undefined ? work() : inTurn(work)));
  };
  return {
    hash: async (password) => turn(() => argon2.hash(normalize(password), options)),
    verify: async (hash, password) => {
      const isRight = await turn(() => argon2.verify(hash ?? unmatched, normalize(password)));
      return isRight && hash !== null;
    },
  };
}

/** Keyboards compose accents in different ways: this makes them one text (RFC 8265, section 4.2). */
function normalize(password: string): string {
  return password.normalize('NFC');
}

/** A hash that no password has. With the same parameters, verifying it takes as long as a real one. */
function renderUnmatchedHash({
  memoryCost,
  timeCost,
  parallelism,
}: PasswordCost & { readonly parallelism: number }): string {
  const part = (bytes: number): string => randomBytes(bytes).toString('base64').replace(/=+$/, '');
  return `$argon2id$v=19$m=${memoryCost},p=${parallelism},t=${timeCost}$${part(16)}$${part(32)}`;
}
