import { randomBytes } from 'node:crypto';
import { AppError, isAppError } from '../../../core/errors.ts';
import type { ObjectStore } from '../../../store/object-store.ts';
import type { AppendDeps } from '../../../store/sequence/append.ts';
import { END_KEPT_MS_MIN, endSequence } from '../../../store/sequence/end.ts';
import { SCHEMA_VERSION } from '../../../store/sequence/envelope.ts';
import { seal } from '../../../store/sequence/sealed.ts';
import { readSoundDocument } from '../../../store/sequence/sequence.ts';
import { type ChangeDeps, requireOpenAccount } from '../accounts/change-account.ts';
import { notSignedIn } from '../identity-errors.ts';
import { developerKeyPrefix } from '../keys.ts';
import {
  type DeveloperKeyJson,
  developerKeySequence,
  renderKey,
  type Scope,
  secretDigest,
} from './developer-key-document.ts';
import {
  addToKeyList,
  readKeyList,
  readKeyObjects,
  removeFromKeyList,
  requireRoom,
} from './developer-key-list.ts';

/** Creates, lists and revokes developer keys. Programs of an account's owner authenticate with them. */

export interface DeveloperKey {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly createdAt: string;
  readonly expiresAt: string;
  /** A day in UTC, such as `2026-11-21`; null if the key was never used. */
  readonly lastUsedOn: string | null;
}

interface NewDeveloperKey {
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly expiresAt: Date;
}

/**
 * Creates a key.
 *
 * The service checks the account again after it writes the key. A new password changes the account first, and then
 * revokes the keys. So for a key that is created between the two, either the password change revokes it, or this
 * function refuses it.
 *
 * @returns the document's fields and the key; nothing stores the key
 * @throws AppError `limit_reached`, `not_signed_in` when the account is locked or erased
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
    secret_digest: secretDigest(secret),
    scopes: request.scopes.map(({ application, access }) => ({ application, access })),
  };
  const sequence = developerKeySequence(account, id);
  const bytes = sequence.render(seal(document));
  await deps.store.create(sequence.key(1), bytes, { contentType: 'application/json' });
  try {
    await addToKeyList(deps, account, id);
    await requireOpenAccount(deps, account);
  } catch (error) {
    await endDeveloperKeys(deps, account, [id], 'not created');
    // The account was erased, together with its list of keys.
    throw isAppError(error, 'ended') ? notSignedIn(error) : error;
  }
  return { ...summaryOf(document, null), key: renderKey({ account, id, secret }) };
}

/** The keys of an account without the revoked keys, with the newest first. */
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
        const document = await readSoundDocument(store, developerKeySequence(account, id), 1);
        return document === undefined ? [] : [summaryOf(document.signed, usedOn.get(id) ?? null)];
      }),
  );
  return documents.flat().sort((a, b) => (a.createdAt < b.createdAt ? 1 : -1));
}

/** @throws AppError `unknown_key`, `not_signed_in` */
export async function revokeDeveloperKey(
  deps: ChangeDeps,
  account: string,
  id: string,
): Promise<void> {
  if (deps.guard !== undefined) await requireOpenAccount(deps, account);
  const isListed = (await readKeyList(deps.store, account)).includes(id);
  if (!isListed) throw new AppError('unknown_key', 'There is no such key, or it was revoked.');
  // If the key has ended and is still in the list, an earlier revocation failed half way, and this call completes it.
  await endDeveloperKeys(deps, account, [id], 'revoked');
}

/** Revokes every key of an account. After a failure, run it again. */
export async function revokeAllDeveloperKeys(deps: AppendDeps, account: string): Promise<void> {
  const listed = await readKeyList(deps.store, account);
  if (listed.length > 0) await endDeveloperKeys(deps, account, listed, 'revoked');
}

/**
 * Each key ends before it leaves the list. After a failure, the list still has the key, and the owner can revoke it
 * again.
 */
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
    // The account was erased, together with its list of keys.
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
