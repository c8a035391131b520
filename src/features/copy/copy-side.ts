import type { Clock } from '../../core/clock.ts';
import { AppError, isAppError } from '../../core/errors.ts';
import type { CopyKind, KeyArea, ListingPass } from '../../core/key-facts.ts';
import type { ObjectStore } from '../../store/object-store.ts';
import { type CopiedObject, type Foreign, isKept, type Listing } from './copy-plan.ts';

/** The two sides of a copy, and the functions that read them. */

export interface CopySide {
  readonly store: ObjectStore;
  /** The name of the side in messages: `./data`, `s3://releases/team`. */
  readonly name: string;
}

/** A document, or the sentence that says why it is corrupt, with the SHA-256 of its bytes. */
export type DocumentRead =
  | { readonly bytes: Uint8Array; readonly skipped: readonly SkippedDocument[] }
  | { readonly corrupt: string; readonly sha256: string | null };

/** A corrupt document that a later document of its sequence names, because an operator allowed readers to skip it. */
interface SkippedDocument {
  readonly number: number;
  readonly sha256: string | null;
}

export interface CopyDeps {
  readonly from: CopySide;
  readonly to: CopySide;
  readonly clock: Clock;
  /** See `key-reader.ts`. */
  readonly factsOf: KeyArea['parse'];
  readonly passes: {
    readonly source: readonly ListingPass[];
    readonly target: readonly ListingPass[];
  };
  /** @param sha256 the hash that the object must have; undefined when nothing states the hash */
  readonly readDocument: (
    store: ObjectStore,
    object: CopiedObject,
    sha256?: string,
  ) => Promise<DocumentRead | undefined>;
  /** Creates a document at the target, and tries again when the target does not answer. */
  readonly createDocument: (key: string, bytes: Uint8Array) => Promise<'created' | 'exists'>;
  readonly onProgress: (
    label: string,
    done: number,
    total: number,
    unit: 'bytes' | 'count',
  ) => void;
}

/** A finding about one object, as a sentence. */
export interface CopyProblem {
  readonly key: string;
  readonly detail: string;
}

/** The most objects that the copy reads or writes at once. */
export const REQUESTS_MAX = 8;

/** Lists a side, pass after pass. */
export async function listSide(
  { factsOf }: Pick<CopyDeps, 'factsOf'>,
  { store }: CopySide,
  passes: readonly ListingPass[],
): Promise<Listing> {
  const objects = new Map<string, CopiedObject>();
  let foreign: Foreign = { count: 0, first: undefined };
  const kinds = new Map<CopyKind, number>();
  const pass = async ({ root, kinds: wanted }: ListingPass): Promise<void> => {
    for await (const info of store.list(root)) {
      const facts = factsOf(info.key);
      if (facts === 'passing') continue;
      if (facts === undefined) {
        // Only the pass that lists all keys counts foreign objects, because other passes list parts of the same keys.
        if (root === '') foreign = { count: foreign.count + 1, first: foreign.first ?? info.key };
      } else if (wanted.includes(facts.kind)) {
        objects.set(info.key, { ...info, ...facts });
        kinds.set(facts.kind, (kinds.get(facts.kind) ?? 0) + 1);
      }
    }
  };
  for (const each of passes) await pass(each);
  // Lists the lists of applications again: a publisher may have created the first application after this pass and
  // before the pass of revisions.
  const [first] = passes;
  if (first !== undefined && kinds.has('revision') && !kinds.has('application list')) {
    await pass(first);
  }
  return { objects, foreign };
}

const PAUSES_MS = [1_000, 4_000, 15_000] as const;

/** Repeats a step when a store did not answer, each time after a longer pause. A step must be safe to repeat. */
export async function patiently<T>({ clock }: Pick<CopyDeps, 'clock'>, step: () => Promise<T>) {
  for (let tries = 0; ; tries++) {
    try {
      return await step();
    } catch (error) {
      const pauseMs = PAUSES_MS[tries];
      if (!isAppError(error, 'store_unavailable') || pauseMs === undefined) throw error;
      await clock.sleep(pauseMs);
    }
  }
}

/**
 * The problem of an object that is corrupt at the source.
 *
 * @param why a sentence
 */
export function corruptProblem(
  { from, to }: Pick<CopyDeps, 'from' | 'to'>,
  object: CopiedObject,
  why: string,
): CopyProblem {
  const { key } = object;
  const state = isKept(object)
    ? ` Without it, ${to.name} may have an older state, which offers releases that were withdrawn since.`
    : '';
  return {
    key,
    detail: `${why} It is corrupt in ${from.name}, and was not copied.${state}`,
  };
}

/** The error for a target that is not empty and not an earlier copy. */
export function storeDiffers(sentence: string): AppError {
  return new AppError(
    'store_differs',
    `${sentence} A copy overwrites no object, so nothing was copied. Name an empty bucket or directory instead.`,
  );
}
