import { type ReaderDeps, readLastRevisionNumber, readRevision } from '../catalog/read.ts';
import type { RevisionJson } from '../catalog/revision-document.ts';
import { isAppError } from '../errors.ts';

export type HistoryEntry =
  | { readonly revision: number; readonly document: RevisionJson }
  | { readonly revision: number; readonly problem: string };

/** The latest changes of an application, newest first. A missing or corrupt revision has a `problem` instead. */
export async function readHistory(
  deps: ReaderDeps,
  application: string,
  entriesMax: number,
): Promise<readonly HistoryEntry[]> {
  const entries: HistoryEntry[] = [];
  const last = await readLastRevisionNumber(deps, application);
  for (let revision = last; revision > 0 && entries.length < entriesMax; revision--) {
    entries.push(await readEntry(deps, application, revision));
  }
  return entries;
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
