import { AppError, isAppError } from '../../core/errors.ts';
import type { ObjectStore } from '../../store/object-store.ts';
import type { Refusals } from '../../store/sequence/read-checked.ts';
import {
  type Announced,
  type Entry,
  listNumbers,
  type Position,
  readDocument,
} from '../../store/sequence/sequence.ts';
import { revisionKey } from '../documents/keys.ts';
import { unpackRevision } from '../documents/packed-document.ts';
import { refuseRollback } from '../reading/chain.ts';
import type { Trust } from '../trust/trust.ts';
import { type LiveRevision, liveRevisionSequence } from './live-revision.ts';

/** Finds out whether the store still continues the state from which this process started. */

interface MatchParts {
  readonly store: ObjectStore;
  readonly application: string;
  readonly refusals: Refusals;
  readonly trust?: Trust | undefined;
  /** The digest of the newest saved revision for which {@link matchSaved} found the same revision in the store. */
  readonly matched: { digest: string | undefined };
}

/** Where the process reads on. */
export interface ReadingStart {
  /** Undefined: the process has no position, and finds the newest revision. */
  readonly position: Position<LiveRevision> | undefined;
  /** The highest number in a listing; undefined when none was made. */
  readonly listed?: Announced | undefined;
}

/**
 * Compares the saved revision with the same revision in the store, once for each saved revision. When the store lacks it,
 * finds the revision above it that continues it.
 *
 * @returns undefined when the process reads on from the saved revision
 * @param verify see `ReadOnOptions.verify`
 * @throws AppError `document_corrupt` when the store went back; `document_newer`, `root_missing`, `store_unavailable`,
 *   `store_denied`
 */
export async function matchSaved(
  parts: MatchParts,
  seen: Entry<LiveRevision>,
  verify: (entry: Entry<LiveRevision>, before: Entry<LiveRevision>) => AppError | undefined,
): Promise<ReadingStart | undefined> {
  const { application, matched } = parts;
  if (matched.digest === seen.document.digest) return undefined;
  const saved = await unpackRevision(seen.document.document);
  const stored = await readRevisionOf(parts, seen.number, (bytes) =>
    saved.equals(bytes) ? seen.document : undefined,
  );
  if (stored !== undefined) {
    refuseRollback(application, seen, stored);
    matched.digest = seen.document.digest;
    return undefined;
  }
  const { next, last } = await findNext(parts, seen.number);
  refuseRollback(application, seen, undefined, next?.document);
  const failure = next && verify(next, seen);
  if (failure !== undefined) throw failure;
  return {
    position: { newest: next, corrupt: [], last: next?.number ?? last, holes: [seen.number] },
    listed: { number: last, by: revisionKey(application, last) },
  };
}

/**
 * Finds the first readable revision above a revision that the store lacks. A probe of the next number would take a
 * second hole for the end, so this function lists the numbers.
 */
async function findNext(
  parts: MatchParts,
  missing: number,
): Promise<{ readonly next: Entry<LiveRevision> | undefined; readonly last: number }> {
  const { store, application } = parts;
  const key = (number: number): string => revisionKey(application, number);
  const listed = await listNumbers(store, { key }, missing - 1);
  if (listed[0] === missing) {
    throw new AppError(
      'store_unavailable',
      `The store lists ${key(missing)} and says that it does not exist. Neither answer is used. Try again.`,
    );
  }
  const last = listed.at(-1) ?? missing;
  for (const number of listed) {
    const document = await readRevisionOf(parts, number);
    // A corrupt revision proves nothing. The revision that steps over it names it.
    if (document === undefined || document === 'corrupt') continue;
    return { next: { number, document }, last };
  }
  return { next: undefined, last };
}

/**
 * @param recognize returns the document for bytes that the process knows. The bytes of the saved revision are nearly
 *   always equal, and parsing the revisions of a thousand applications would take seconds
 */
async function readRevisionOf(
  { store, application, refusals, trust }: MatchParts,
  number: number,
  recognize: (bytes: Uint8Array) => LiveRevision | undefined = () => undefined,
): Promise<LiveRevision | 'corrupt' | undefined> {
  const sequence = liveRevisionSequence(application, trust);
  const parse: typeof sequence.parse = async (bytes, each) =>
    recognize(bytes) ?? sequence.parse(bytes, each);
  try {
    return await readDocument(store, { ...sequence, parse }, number, refusals);
  } catch (error) {
    if (isAppError(error, 'document_corrupt')) return 'corrupt';
    throw error;
  }
}
