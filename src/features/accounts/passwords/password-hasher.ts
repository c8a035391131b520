import { randomBytes } from 'node:crypto';
import argon2 from 'argon2';
import pLimit from 'p-limit';
import { AppError } from '../../../core/errors.ts';

/** Password hashes: Argon2id, with the parameters that OWASP recommends for 19 MiB of memory. */

/** The cost of computing one hash. */
export interface PasswordCost {
  /** KiB. */
  readonly memoryCost: number;
  /** Passes over the memory. */
  readonly timeCost: number;
}

const COST: PasswordCost = { memoryCost: 19_456, timeCost: 2 };
/**
 * The length of the queue is limited, so that many concurrent sign-ins cannot use up the memory. The last sign-in in a
 * full queue waits about two seconds.
 */
const WAITING_MAX = 50;
const RETRY_AFTER_SECONDS = 5;
/** A process has four threads for such work, and a hash takes one thread. The other threads read files meanwhile. */
const AT_ONCE_MAX = 2;

/** Does the work at a time when no other process of the service computes a hash. */
export type HashTurn = <T>(work: () => Promise<T>) => Promise<T>;

/**
 * Computes hashes outside the event loop, a few at a time. Other requests wait in a queue of limited length. When a
 * signal is aborted before the turn of its hash, the process does not compute that hash.
 */
export interface PasswordHasher {
  /**
   * Computes the hash in PHC form.
   *
   * @throws AppError `overloaded`
   */
  hash(password: string, signal?: AbortSignal): Promise<string>;
  /**
   * True when the hash belongs to the password. When `hash` is null, the answer is `false`, after the same time.
   *
   * @throws AppError `overloaded`
   */
  verify(hash: string | null, password: string, signal?: AbortSignal): Promise<boolean>;
}

/**
 * The number of hashes that a process may compute at once. They use at most half of the processors, and at least one.
 */
export function hashesAtOnce(processors: number): number {
  return Math.min(Math.max(Math.floor(processors / 2), 1), AT_ONCE_MAX);
}

/**
 * @param options.atOnce the number of hashes that the process computes at once: see {@link hashesAtOnce}
 * @param options.cost lower only in tests: a high cost makes it slow to guess the password of a stolen hash
 * @param options.inTurn waits for a turn among the processes of one service; default: the service has only this process
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
  const turn = <T>(work: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> => {
    if (limit.pendingCount >= WAITING_MAX) throw overloaded('Too many sign-ins are waiting.');
    const hasToWait = limit.activeCount + limit.pendingCount >= atOnce;
    return limit(() => {
      // Clients that fill the queue and then leave must not delay other clients. When the request did not have to wait,
      // the process computes the hash, because the client may have closed only its side of the connection.
      if (hasToWait && signal?.aborted === true) {
        throw overloaded('The client closed its connection while the sign-in waited.');
      }
      return inTurn === undefined ? work() : inTurn(work);
    });
  };
  return {
    hash: async (password, signal) => turn(() => argon2.hash(normalize(password), options), signal),
    verify: async (hash, password, signal) => {
      const work = () => argon2.verify(hash ?? unmatched, normalize(password));
      const isRight = await turn(work, signal);
      return isRight && hash !== null;
    },
  };
}

function overloaded(why: string): AppError {
  return new AppError('overloaded', `${why} Try again shortly.`, {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}

/** Keyboards compose accents in different ways. This function gives all such forms one text (RFC 8265, section 4.2). */
function normalize(password: string): string {
  return password.normalize('NFC');
}

/** A hash that no password has. It has the same parameters, so verifying it takes as long as verifying a real hash. */
function renderUnmatchedHash({
  memoryCost,
  timeCost,
  parallelism,
}: PasswordCost & { readonly parallelism: number }): string {
  const part = (bytes: number): string => randomBytes(bytes).toString('base64').replace(/=+$/, '');
  return `$argon2id$v=19$m=${memoryCost},p=${parallelism},t=${timeCost}$${part(16)}$${part(32)}`;
}
