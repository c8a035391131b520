import { createHash, randomBytes } from 'node:crypto';
import { z } from 'zod';
import { AppError, isAppError } from '../../errors.ts';
import type { ObjectStore } from '../../object-store/object-store.ts';
import type { AppendDeps } from '../../sequence/append.ts';
import { END_KEPT_MS_MIN, endKey, endSequence } from '../../sequence/end.ts';
import { SCHEMA_VERSION, type Sealed } from '../../sequence/envelope.ts';
import { defineSequence, seal } from '../../sequence/sealed.ts';
import { readSoundDocument, type Sequence } from '../../sequence/sequence.ts';
import { notSignedIn } from '../access-tokens/access-token.ts';
import { type ChangeDeps, readAccount } from '../accounts/account.ts';
import { developerKeyKey, developerKeyPrefix } from '../keys.ts';
import {
  addToKeyList,
  readKeyList,
  readKeyObjects,
  removeFromKeyList,
  requireRoom,
} from './developer-key-list.ts';

/** Keys for programs: shown once, stored hashed, good for what their scopes name, until they expire. */

export const ACCESSES = ['read', 'publish'] as const;
export type Access = (typeof ACCESSES)[number];

export interface Scope {
  readonly application: string;
  readonly access: Access;
}

const KEY_BYTES_MAX = 8 * 1024;

const timeSchema = z.iso.datetime();

export const developerKeySchema = z.object({
  schema_version: z.literal(SCHEMA_VERSION),
  type: z.literal('developer_key'),
  account: z.string(),
  key: z.string(),
  change_id: z.uuid(),
  created_at: timeSchema,
  expires_at: timeSchema,
  name: z.string(),
  secret_digest: z.string().describe('SHA-256 of 32 random bytes, in hex.'),
  scopes: z.array(z.object({ application: z.string(), access: z.enum(ACCESSES) })),
});

type DeveloperKeyJson = z.output<typeof developerKeySchema>;

export function keySequence(account: string, key: string): Sequence<Sealed<DeveloperKeyJson>> {
  return defineSequence({
    name: 'developer key',
    schema: developerKeySchema,
    documentBytesMax: KEY_BYTES_MAX,
    key: () => developerKeyKey(account, key),
    endKey: endKey(developerKeyPrefix(account, key)),
    expected: () => ({ account, key }),
  });
}

export interface DeveloperKey {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly createdAt: string;
  readonly expiresAt: string;
  /** The day, UTC; null for never. */
  readonly lastUsedOn: string | null;
}

export interface NewDeveloperKey {
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly expiresAt: Date;
}

/**
 * Makes a key.
 *
 * Setting a password and locking the account change the account first and end its keys then: one of the two
 * sides sees a key that is made in between.
 *
 * @returns the key itself as well, which is stored nowhere
 * @throws AppError `limit_reached`, `not_signed_in` when the account is locked or gone, those of the
 *   guard, and the store's
 */
export async function createDeveloperKey(
  deps: ChangeDeps,
  account: string,
  request: NewDeveloperKey,
): Promise<DeveloperKey & { readonly key: string }> {
  await requireOpenAccount(deps, account);
  requireRoom(await readKeyList(deps.store, account));
  const id = randomBytes(8).toString('hex');
  const secret = randomBytes(32).toString('base64url');
  const document: DeveloperKeyJson = {
    schema_version: SCHEMA_VERSION,
    type: 'developer_key',
    account,
    key: id,
    change_id: deps.randomness.id(),
    created_at: new Date(deps.clock.now()).toISOString(),
    expires_at: request.expiresAt.toISOString(),
    name: request.name,
    secret_digest: digestOf(secret),
    scopes: request.scopes.map(({ application, access }) => ({ application, access })),
  };
  const bytes = keySequence(account, id).render(seal(document));
  await deps.store.create(developerKeyKey(account, id), bytes, { contentType: 'application/json' });
  try {
    await addToKeyList(deps, account, id);
    await requireOpenAccount(deps, account);
  } catch (error) {
    await endDeveloperKeys(deps, account, [id], 'not made');
    // The list ended with the account.
    throw isAppError(error, 'ended') ? notSignedIn(error) : error;
  }
  return { ...summaryOf(document, null), key: `slk_${account}_${id}_${secret}` };
}

/** @throws AppError `not_signed_in`, those of the guard, and the store's */
async function requireOpenAccount({ store, guard }: ChangeDeps, id: string): Promise<void> {
  const account = await readAccount(store, id);
  if (account === undefined || account.locked !== null) throw notSignedIn();
  await guard?.(account);
}

/** The keys of an account that were not revoked, the latest first. @throws AppError the store's */
export async function listDeveloperKeys(
  store: ObjectStore,
  account: string,
): Promise<readonly DeveloperKey[]> {
  const [listed, { usedOn, revoked }] = await Promise.all([
    readKeyList(store, account),
    readKeyObjects(store, account),
  ]);
  const documents = await Promise.all(
    listed
      .filter((id) => !revoked.has(id))
      .map(async (id) => {
        const document = await readSoundDocument(store, keySequence(account, id), 1);
        return document === undefined ? [] : [summaryOf(document.signed, usedOn.get(id) ?? null)];
      }),
  );
  return documents.flat().sort((a, b) => (a.createdAt < b.createdAt ? 1 : -1));
}

/** @throws AppError `unknown_key`, `not_signed_in`, those of the guard, and the store's */
export async function revokeDeveloperKey(
  deps: ChangeDeps,
  account: string,
  id: string,
): Promise<void> {
  if (deps.guard !== undefined) await requireOpenAccount(deps, account);
  const isListed = (await readKeyList(deps.store, account)).includes(id);
  // Ended and still listed is one whose revocation was cut short.
  if (!isListed) throw new AppError('unknown_key', 'There is no such key, or it was revoked.');
  await endDeveloperKeys(deps, account, [id], 'revoked');
}

/** @throws AppError the store's: run it again then */
export async function revokeAllDeveloperKeys(deps: AppendDeps, account: string): Promise<void> {
  const listed = await readKeyList(deps.store, account);
  if (listed.length > 0) await endDeveloperKeys(deps, account, listed, 'revoked');
}

/** The keys end before they leave the list: what is cut short can be found, and done again. */
async function endDeveloperKeys(
  deps: AppendDeps,
  account: string,
  ids: readonly string[],
  reason: string,
): Promise<void> {
  for (const id of ids) {
    await endSequence(deps, developerKeyPrefix(account, id), { reason, keptMs: END_KEPT_MS_MIN });
  }
  await removeFromKeyList(deps, account, ids).catch((error: unknown) => {
    // An account that was erased has none.
    if (!isAppError(error, 'ended')) throw error;
  });
}

function summaryOf(document: DeveloperKeyJson, lastUsedOn: string | null): DeveloperKey {
  return {
    id: document.key,
    name: document.name,
    scopes: document.scopes,
    createdAt: document.created_at,
    expiresAt: document.expires_at,
    lastUsedOn,
  };
}

/** What is stored of a secret. */
export function digestOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}
