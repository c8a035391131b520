import { timingSafeEqual } from 'node:crypto';
import { isAppError } from '../../errors.ts';
import type { Log } from '../../log.ts';
import type { AppendDeps } from '../../sequence/append.ts';
import { isEnded } from '../../sequence/end.ts';
import { readDocument } from '../../sequence/sequence.ts';
import { notSignedIn } from '../access-tokens/access-token.ts';
import { readAccount } from '../accounts/account.ts';
import type { Account } from '../accounts/account-document.ts';
import { developerKeyPrefix, developerKeyUseKey } from '../keys.ts';
import { digestOf, keySequence, type Scope } from './developer-keys.ts';

/** How long a revoked key may still be good in another process. */
const REMEMBERED_MS = 30_000;
const REMEMBERED_MAX = 1_000;

/** Who asks with a developer key, and what for. */
export interface KeyHolder {
  readonly account: Account;
  readonly scopes: readonly Scope[];
}

export interface DeveloperKeyVerifier {
  /** Whether it is one of our keys by its looks. */
  isDeveloperKey(token: string): boolean;
  /** @throws AppError `not_signed_in`, whatever is wrong with it; the store's */
  verify(token: string): Promise<KeyHolder>;
}

const KEY_FORM = /^slk_([0-9a-f]{32})_([0-9a-f]{16})_([\w-]{43})$/;

/** Remembers what it read for {@link REMEMBERED_MS}, and writes at most one use a day, key and process. */
export function createDeveloperKeyVerifier(
  deps: AppendDeps & { readonly log: Log },
): DeveloperKeyVerifier {
  const { store, clock, log } = deps;
  const remembered = new Map<
    string,
    { readonly at: number; readonly holder: KeyHolder & { readonly expiresAt: number } }
  >();
  const noted = new Map<string, string>();

  const noteUse = (account: string, id: string): void => {
    const day = new Date(clock.now()).toISOString().slice(0, 10);
    if (noted.get(id) === day) return;
    if (noted.size >= REMEMBERED_MAX) noted.clear();
    noted.set(id, day);
    store.create(developerKeyUseKey(account, id, day), Buffer.from('{}\n')).catch((error) => {
      noted.delete(id);
      log.warn({ err: error }, 'the use of a developer key could not be noted');
    });
  };

  const read = async (token: string): Promise<KeyHolder & { readonly expiresAt: number }> => {
    const [, account = '', id = '', secret = ''] = KEY_FORM.exec(token) ?? [];
    const [document, revoked, owner] = await Promise.all([
      readDocument(store, keySequence(account, id), 1),
      isEnded(store, developerKeyPrefix(account, id)),
      readAccount(store, account),
    ]).catch((error: unknown) => {
      if (isAppError(error, 'document_corrupt')) throw notSignedIn(error);
      throw error;
    });
    if (document === undefined || revoked || owner === undefined || owner.locked !== null) {
      throw notSignedIn();
    }
    const { secret_digest: digest, scopes, expires_at: expiresAt } = document.signed;
    if (document.signed.created_at < (owner.keysNotBefore ?? '')) throw notSignedIn();
    // Digests of equal length, compared in the same time whatever they are.
    if (!timingSafeEqual(Buffer.from(digestOf(secret)), Buffer.from(digest))) throw notSignedIn();
    return { account: owner, scopes, expiresAt: Date.parse(expiresAt) };
  };

  return {
    isDeveloperKey: (token) => token.startsWith('slk_'),
    verify: async (token) => {
      const parts = KEY_FORM.exec(token);
      if (parts === null) throw notSignedIn();
      // The digest: a token in memory for long would be one more place to steal it from.
      const name = digestOf(token);
      let known = remembered.get(name);
      if (known === undefined || clock.now() - known.at > REMEMBERED_MS) {
        known = { at: clock.now(), holder: await read(token) };
        if (remembered.size >= REMEMBERED_MAX) remembered.clear();
        remembered.set(name, known);
      }
      if (known.holder.expiresAt <= clock.now()) throw notSignedIn();
      noteUse(String(parts[1]), String(parts[2]));
      return known.holder;
    },
  };
}
