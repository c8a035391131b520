import type { Clock, Randomness } from '../clock.ts';
import { AppError, isAppError } from '../errors.ts';
import type { ObjectStore } from '../object-store/object-store.ts';

export interface CreateDeps {
  readonly store: ObjectStore;
  readonly clock: Clock;
  readonly randomness: Randomness;
}

/** Somebody waits in front of a form for it. */
const TIME_MAX_MS = 4_000;
const PAUSE_FIRST_MS = 50;
const PAUSE_MAX_MS = 1_000;

/**
 * Creates an object, putting the identical bytes again while the store's answer is unclear.
 *
 * @returns `exists` also when it was this very call that created it and the answer was lost
 * @throws AppError `outcome_unknown`: it may be there; otherwise the store's, and it is not there
 */
export async function createSettled(
  deps: CreateDeps,
  key: string,
  bytes: Uint8Array,
): Promise<'created' | 'exists'> {
  const deadline = deps.clock.now() + TIME_MAX_MS;
  let isUnclear = false;
  for (let attempt = 0; ; attempt++) {
    try {
      return await deps.store.create(key, bytes, { contentType: 'application/json' });
    } catch (error) {
      const isOutage = isAppError(error, 'store_unavailable');
      if (!isOutage && !isUnclear) throw error;
      isUnclear = true;
      if (!isOutage || deps.clock.now() >= deadline) {
        const why = `The store never said whether ${key} was written.`;
        throw new AppError('outcome_unknown', why, { cause: error });
      }
    }
    const longest = Math.min(PAUSE_FIRST_MS * 2 ** attempt, PAUSE_MAX_MS);
    await deps.clock.sleep(longest * (0.5 + deps.randomness.fraction() / 2));
  }
}

const TRIES = 3;
const TRY_PAUSE_MS = 100;

/**
 * Creates an object with a few tries of the identical bytes, for what may be asked for again as it is.
 *
 * @returns `exists` also when it was this very call that created it and the answer was lost
 * @throws AppError the store's; after `store_unavailable` it may be there
 */
export async function createRetrying(
  { store, clock }: Pick<CreateDeps, 'store' | 'clock'>,
  key: string,
  bytes: Uint8Array,
): Promise<'created' | 'exists'> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await store.create(key, bytes, { contentType: 'application/json' });
    } catch (error) {
      if (!isAppError(error, 'store_unavailable') || attempt === TRIES) throw error;
      await clock.sleep(TRY_PAUSE_MS * attempt);
    }
  }
}
