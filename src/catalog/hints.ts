import { z } from 'zod';
import { isAppError } from '../errors.ts';
import type { ObjectStore } from '../object-store/object-store.ts';
import type { AppendDeps } from '../sequence/append.ts';
import { SCHEMA_VERSION } from '../sequence/envelope.ts';
import { defineSequence, seal } from '../sequence/sealed.ts';
import { findLast, readDocument } from '../sequence/sequence.ts';
import { hintKey } from './keys.ts';
import { timeSchema } from './manifest-document.ts';

/**
 * One shared sequence of hints, each of which names an application that changed. With it, a service polls one key for
 * all applications. A lost or corrupt hint only delays a change: services also read the applications in turn.
 */

export const hintSchema = z.object({
  schema_version: z.literal(SCHEMA_VERSION),
  type: z.literal('change'),
  number: z.number().int().positive(),
  change_id: z.uuid(),
  at: timeSchema,
  application: z.string(),
});

const HINT_BYTES_MAX = 4_096;
const hintSequence = defineSequence({
  name: 'hints of changes',
  schema: hintSchema,
  documentBytesMax: HINT_BYTES_MAX,
  key: hintKey,
  expected: (number) => ({ number }),
});

const ATTEMPTS_MAX = 3;
/** A service that has missed more hints than this reads every application instead. */
const BEHIND_MAX = 64;

/**
 * Tells running services that an application changed, in at most three attempts.
 *
 * Does not use `createSettled`, because each attempt may need another number: other publishers take numbers, too.
 *
 * @param from the number of a hint that exists, or 0
 * @returns whether the hint was stored; never throws an AppError
 */
export async function announceChange(
  { store, clock, randomness }: AppendDeps,
  application: string,
  from: number,
): Promise<boolean> {
  const changeId = randomness.id();
  let last = from;
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
    const number = last + 1;
    const hint: z.output<typeof hintSchema> = {
      schema_version: SCHEMA_VERSION,
      type: 'change',
      number,
      change_id: changeId,
      at: new Date(clock.now()).toISOString(),
      application,
    };
    try {
      if ((await store.create(hintKey(number), hintSequence.render(seal(hint)))) === 'created')
        return true;
      last = await findLastHint(store, number);
    } catch (error) {
      // The next attempt uses the same number: a hint that is stored twice does no harm.
      if (!isAppError(error)) throw error;
    }
  }
  return false;
}

/** The number of the newest hint. @param from the number of a hint that exists, or 0 */
export function findLastHint(store: ObjectStore, from: number): Promise<number> {
  return findLast(store, hintSequence, from);
}

interface Hints {
  /** The applications that changed; undefined when there are too many hints to read. */
  readonly applications: ReadonlySet<string> | undefined;
  /** The number of the newest hint. */
  readonly last: number;
}

/** Reads the hints above a number. Without new hints this takes one request. @throws AppError the store's */
export async function readHints(store: ObjectStore, after: number): Promise<Hints> {
  const applications = new Set<string>();
  for (let number = after + 1; number <= after + BEHIND_MAX; number++) {
    const hint = await readDocument(store, hintSequence, number).catch((error: unknown) => {
      // This includes hints of a newer schema: each application is read in turn anyway.
      if (isAppError(error, 'document_corrupt') || isAppError(error, 'document_newer')) return null;
      throw error;
    });
    if (hint === undefined) return { applications, last: number - 1 };
    if (hint !== null) applications.add(hint.signed.application);
  }
  return { applications: undefined, last: await findLastHint(store, after + BEHIND_MAX) };
}
