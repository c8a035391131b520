import { z } from 'zod';
import { AppError } from '../../../core/errors.ts';
import type { ObjectStore } from '../../../store/object-store.ts';
import { type AppendDeps, appendDocument } from '../../../store/sequence/append.ts';
import { endKey } from '../../../store/sequence/end.ts';
import { SCHEMA_VERSION, type Sealed, skippedSchema } from '../../../store/sequence/envelope.ts';
import { defineSequence, seal } from '../../../store/sequence/sealed.ts';
import { findNewest, type Sequence } from '../../../store/sequence/sequence.ts';
import { developerKeyListKey, developerKeysPrefix, parseDeveloperKeyKey } from '../keys.ts';

/**
 * The list of an account's developer keys. It is a sequence, so that concurrent requests cannot create more keys than
 * the limit. To know whether a key is valid, the service reads the objects of the key, and not the list. While the
 * newest list is corrupt, the service lists the objects of all keys instead, because an older list may lack a valid
 * key.
 */

export const DEVELOPER_KEYS_MAX = 20;
const LIST_BYTES_MAX = 8 * 1024;

export const developerKeyListSchema = z.object({
  schema_version: z.literal(SCHEMA_VERSION),
  type: z.literal('developer_key_list'),
  account: z.string(),
  number: z.int().positive(),
  skipped: skippedSchema,
  change_id: z.uuid(),
  at: z.iso.datetime(),
  keys: z.array(z.string()).describe('The ids of the keys.'),
});

type ListJson = z.output<typeof developerKeyListSchema>;

function listSequence(account: string): Sequence<Sealed<ListJson>> {
  return defineSequence({
    name: 'list of developer keys',
    schema: developerKeyListSchema,
    documentBytesMax: LIST_BYTES_MAX,
    key: (number) => developerKeyListKey(account, number),
    endKey: endKey(developerKeysPrefix(account)),
    expected: (number) => ({ account, number }),
  });
}

/**
 * The ids of an account's developer keys.
 *
 * @throws AppError `document_newer`
 */
export async function readKeyList(store: ObjectStore, account: string): Promise<readonly string[]> {
  const { newest, corrupt } = await findNewest(store, listSequence(account));
  if (corrupt.length > 0) return readLiveKeys(store, account);
  return newest?.document.signed.keys ?? [];
}

async function readLiveKeys(store: ObjectStore, account: string): Promise<readonly string[]> {
  const { created, revoked } = await readKeyObjects(store, account);
  return [...created].filter((id) => !revoked.has(id));
}

/** The state of an account's developer keys. It takes one listing of their objects. */
export async function readKeyObjects(
  store: ObjectStore,
  account: string,
): Promise<{
  readonly created: ReadonlySet<string>;
  readonly revoked: ReadonlySet<string>;
  /** For each key that was used, the day of its last use, in UTC. */
  readonly usedOn: ReadonlyMap<string, string>;
}> {
  const created = new Set<string>();
  const revoked = new Set<string>();
  const usedOn = new Map<string, string>();
  for await (const { key } of store.list(developerKeysPrefix(account))) {
    const object = parseDeveloperKeyKey(account, key);
    if (object === undefined) continue;
    const { id, isEnd, usedOn: day } = object;
    if (isEnd) revoked.add(id);
    else if (day === undefined) created.add(id);
    else if (day > (usedOn.get(id) ?? '')) usedOn.set(id, day);
  }
  return { created, revoked, usedOn };
}

/** @throws AppError `limit_reached` */
export function requireRoom(keys: readonly string[]): void {
  if (keys.length < DEVELOPER_KEYS_MAX) return;
  throw new AppError(
    'limit_reached',
    `An account has at most ${DEVELOPER_KEYS_MAX} developer keys. Revoke one that you do not use.`,
  );
}

/** @throws AppError `limit_reached` */
export function addToKeyList(deps: AppendDeps, account: string, id: string): Promise<void> {
  return changeList(deps, account, (keys) => {
    // When the newest list is corrupt, `keys` comes from the objects of the keys, and contains the new key already.
    const others = keys.filter((key) => key !== id);
    requireRoom(others);
    return [...others, id];
  });
}

export function removeFromKeyList(
  deps: AppendDeps,
  account: string,
  ids: readonly string[],
): Promise<void> {
  return changeList(deps, account, (keys) => keys.filter((key) => !ids.includes(key)));
}

async function changeList(
  deps: AppendDeps,
  account: string,
  edit: (keys: readonly string[]) => string[],
): Promise<void> {
  await appendDocument(deps, listSequence(account), async (base) => {
    const { newest, number, skipped, changeId } = base;
    const isCorrupt = skipped.length > 0;
    const before = isCorrupt
      ? await readLiveKeys(deps.store, account)
      : (newest?.document.signed.keys ?? []);
    const keys = edit(before);
    if (keys.length === before.length && !isCorrupt) return undefined;
    return seal<ListJson>({
      schema_version: SCHEMA_VERSION,
      type: 'developer_key_list',
      account,
      number,
      skipped: [...skipped],
      change_id: changeId,
      at: new Date(deps.clock.now()).toISOString(),
      keys,
    });
  });
}
