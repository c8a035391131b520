import type { Clock, Randomness } from '../../core/clock.ts';
import { AppError, isAppError } from '../../core/errors.ts';
import type { ObjectStore } from '../object-store.ts';

export interface CreateDeps {
  readonly store: ObjectStore;
  readonly clock: Clock;
  readonly randomness: Randomness;
}

type RetryDeps = Pick<CreateDeps, 'store' | 'clock'>;

/** This time is short because a user is waiting for the response. */
const TIME_MAX_MS = 4_000;
const PAUSE_FIRST_MS = 50;
const PAUSE_MAX_MS = 1_000;

/**
 * Creates an object; while the store does not answer, sends the identical bytes again, for up to four seconds.
 *
 * @returns `exists` also when an earlier attempt of this call created the object and its answer was lost
 * @throws AppError `store_denied`, `store_full`; `store_unavailable`: the object may exist
 */
export async function createRetrying(
  deps: RetryDeps,
  key: string,
  bytes: Uint8Array,
): Promise<'created' | 'exists'> {
  const settled = await tryRepeatedly(deps, key, bytes);
  if ('error' in settled) throw settled.error;
  return settled.outcome;
}

/**
 * Like {@link createRetrying}, for callers that must know whether the object may exist.
 *
 * @throws AppError `outcome_unknown`: the object may exist; `store_unavailable`, `store_denied`, `store_full`: the
 *   object does not exist
 */
export async function createSettled(
  deps: RetryDeps,
  key: string,
  bytes: Uint8Array,
): Promise<'created' | 'exists'> {
  const settled = await tryRepeatedly(deps, key, bytes);
  if (!('error' in settled)) return settled.outcome;
  if (!settled.mayBeThere) throw settled.error;
  const why = `The store never said whether ${key} was written.`;
  throw new AppError('outcome_unknown', why, { cause: settled.error });
}

type Settled =
  | { readonly outcome: 'created' | 'exists' }
  | { readonly error: unknown; readonly mayBeThere: boolean };

async function tryRepeatedly(
  { store, clock }: RetryDeps,
  key: string,
  bytes: Uint8Array,
): Promise<Settled> {
  const deadline = clock.now() + TIME_MAX_MS;
  let pausedMs = 0;
  let mayBeThere = false;
  for (let pauseMs = PAUSE_FIRST_MS; ; pauseMs = Math.min(2 * pauseMs, PAUSE_MAX_MS)) {
    try {
      return { outcome: await store.create(key, bytes, { contentType: 'application/json' }) };
    } catch (error) {
      const isOutage = isAppError(error, 'store_unavailable');
      // A refusal says nothing about earlier attempts: the store may have committed one of them.
      mayBeThere ||= isOutage;
      // The sum of the pauses is a second limit: when the clock is set back, the deadline is far away.
      const isOver = clock.now() >= deadline || pausedMs >= TIME_MAX_MS;
      if (!isOutage || isOver) return { error, mayBeThere };
      await clock.sleep(pauseMs);
      pausedMs += pauseMs;
      // The machine may have been suspended, and another process may have taken the key and freed it again meanwhile.
      if (clock.now() > deadline + PAUSE_MAX_MS) return { error, mayBeThere };
    }
  }
}
