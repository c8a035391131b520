import { timingSafeEqual } from 'node:crypto';
import { isAppError } from '../../../core/errors.ts';
import type { Log } from '../../../core/log.ts';
import type { AppendDeps } from '../../../store/sequence/append.ts';
import { isEnded } from '../../../store/sequence/end.ts';
import { readDocument } from '../../../store/sequence/sequence.ts';
import { readAccount } from '../accounts/account.ts';
import type { Account } from '../accounts/account-document.ts';
import { notSignedIn } from '../identity-errors.ts';
import { developerKeyPrefix, developerKeyUseKey } from '../keys.ts';
import {
  developerKeySequence,
  isDeveloperKey,
  type KeyParts,
  parseKey,
  type Scope,
  secretDigest,
} from './developer-key-document.ts';

/**
 * The time for which a process remembers a key, in milliseconds. After the owner revokes a key, other processes accept
 * it for this long.
 */
const REMEMBERED_MS = 30_000;
const REMEMBERED_MAX = 1_000;

/** The account that a developer key authenticates, limited to these scopes. */
interface KeyHolder {
  readonly account: Account;
  readonly scopes: readonly Scope[];
}

export interface DeveloperKeyVerifier {
  /** See {@link isDeveloperKey}. */
  isDeveloperKey(token: string): boolean;
  /** @throws AppError `not_signed_in` for every problem of the key */
  verify(token: string): Promise<KeyHolder>;
}

interface VerifiedKey extends KeyHolder {
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** Caches documents for {@link REMEMBERED_MS}, and writes at most one use for each day, key and process. */
export function createDeveloperKeyVerifier(
  deps: AppendDeps & { readonly log: Log },
): DeveloperKeyVerifier {
  const { clock } = deps;
  const remembered = new Map<string, { readonly at: number; readonly key: VerifiedKey }>();
  const noteUse = createUseNotes(deps);
  return {
    isDeveloperKey,
    verify: async (token) => {
      const parts = parseKey(token);
      if (parts === undefined) throw notSignedIn();
      // Keeps the digest instead of the key, because an attacker could read a key from memory.
      const name = secretDigest(token);
      let known = remembered.get(name);
      if (known === undefined || clock.now() - known.at > REMEMBERED_MS) {
        known = { at: clock.now(), key: await readKey(deps, parts) };
        if (remembered.size >= REMEMBERED_MAX) remembered.clear();
        remembered.set(name, known);
      }
      if (known.key.expiresAt <= clock.now()) throw notSignedIn();
      noteUse(parts);
      return known.key;
    },
  };
}

/** @throws AppError `not_signed_in` */
async function readKey(
  { store }: AppendDeps,
  { account, id, secret }: KeyParts,
): Promise<VerifiedKey> {
  const [document, isRevoked, owner] = await Promise.all([
    readDocument(store, developerKeySequence(account, id), 1),
    isEnded(store, developerKeyPrefix(account, id)),
    readAccount(store, account),
  ]).catch((error: unknown) => {
    if (isAppError(error, 'document_corrupt')) throw notSignedIn(error);
    throw error;
  });
  if (document === undefined || isRevoked || owner === undefined || owner.locked !== null) {
    throw notSignedIn();
  }
  const { secret_digest: digest, scopes, expires_at: expiresAt, created_at: at } = document.signed;
  if (at < (owner.keysNotBefore ?? '')) throw notSignedIn();
  // All digests have the same length, and a comparison takes the same time for all values.
  if (!timingSafeEqual(Buffer.from(secretDigest(secret)), Buffer.from(digest))) throw notSignedIn();
  return { account: owner, scopes, expiresAt: Date.parse(expiresAt) };
}

/** Notes in the store on which day a key was used. The request does not wait for that. */
function createUseNotes({ store, clock, log }: AppendDeps & { readonly log: Log }) {
  const noted = new Map<string, string>();
  return ({ account, id }: KeyParts): void => {
    const day = new Date(clock.now()).toISOString().slice(0, 10);
    if (noted.get(id) === day) return;
    if (noted.size >= REMEMBERED_MAX) noted.clear();
    noted.set(id, day);
    store.create(developerKeyUseKey(account, id, day), Buffer.from('{}\n')).catch((error) => {
      noted.delete(id);
      log.warn({ err: error }, 'could not note the use of a developer key');
    });
  };
}
