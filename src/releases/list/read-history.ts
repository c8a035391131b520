import pLimit from 'p-limit';
import type { RevisionJson } from '../../catalog/documents/revision-document.ts';
import {
  type ReaderDeps,
  readLastRevisionNumber,
  readRevision,
} from '../../catalog/reading/read.ts';
import { isAppError } from '../../core/errors.ts';

export type HistoryEntry =
  | { readonly revision: number; readonly document: RevisionJson }
  | { readonly revision: number; readonly problem: string };

/** Each revision repeats the whole state, so the command reads only a few revisions at a time. */
const READS_AT_ONCE = 4;

/**
 * The latest changes of an application, newest first. A missing or corrupt revision has a `problem` instead.
 *
 * @param before the changes begin below this revision number; undefined: at the newest
 */
export async function readHistory(
  deps: ReaderDeps,
  application: string,
  { entriesMax, before }: { readonly entriesMax: number; readonly before?: number | undefined },
): Promise<readonly HistoryEntry[]> {
  const last = await readLastRevisionNumber(deps, application);
  const from = Math.min(last, (before ?? last + 1) - 1);
  const count = Math.max(0, Math.min(from, entriesMax));
  const numbers = Array.from({ length: count }, (_, index) => from - index);
  return pLimit(READS_AT_ONCE).map(numbers, (revision) => readEntry(deps, application, revision));
}

async function readEntry(
  deps: ReaderDeps,
  application: string,
  revision: number,
): Promise<HistoryEntry> {
  try {
    const found = await readRevision(deps, application, revision);
    return found === undefined
      ? { revision, problem: 'is missing' }
      : { revision, document: found.signed };
  } catch (error) {
    if (!isAppError(error) || error.kind !== 'corrupt') throw error;
    return { revision, problem: error.message };
  }
}
