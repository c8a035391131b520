import type { AppendDeps } from '../sequence/append.ts';
import { listSequences, removableKeys } from '../sequence/trim.ts';
import {
  ACCOUNTS_ROOT,
  DEVELOPER_KEYS_ROOT,
  parseAccountKey,
  parseDeveloperKeyListKey,
} from './keys.ts';
import { lowestAccountRevision } from './sessions/list-sessions.ts';

/**
 * Deletes the documents of accounts that neither galloping nor a session needs: a session asks for
 * the document after the last one that it has seen, and must not miss it.
 *
 * @returns how many objects were deleted
 * @throws AppError the store's; the rest is done the next time
 */
export async function trimAccounts(deps: AppendDeps): Promise<number> {
  let deleted = 0;
  for await (const listed of listSequences(deps.store, ACCOUNTS_ROOT, parseAccountKey)) {
    const removable = removableKeys(deps, listed);
    if (removable.length === 0) continue;
    const seenByAll = await lowestAccountRevision(deps.store, listed.of);
    for (const { key, number } of removable) {
      if (number > seenByAll) break;
      await deps.store.delete(key);
      deleted++;
    }
  }
  return deleted;
}

/** As {@link trimAccounts}, of the lists of developer keys, which no session follows. */
export async function trimDeveloperKeyLists(deps: AppendDeps): Promise<number> {
  let deleted = 0;
  const lists = listSequences(deps.store, DEVELOPER_KEYS_ROOT, parseDeveloperKeyListKey);
  for await (const listed of lists) {
    for (const { key } of removableKeys(deps, listed)) {
      await deps.store.delete(key);
      deleted++;
    }
  }
  return deleted;
}
