import type { ObjectStore } from '../../../store/object-store.ts';
import { listSequences } from '../../../store/sequence/trim.ts';
import { unknownAccount } from '../identity-errors.ts';
import { ACCOUNTS_ROOT, parseAccountKey } from '../keys.ts';
import { accountIdOf, normalizeEmail, readAccount } from './account.ts';
import type { Account } from './account-document.ts';

/** Finding accounts, for admins. */

/** True when a text has the form of an account's id. */
export function isAccountId(text: string): boolean {
  return /^[0-9a-f]{32}$/.test(text);
}

/**
 * The account with an id, or with a mail address.
 *
 * @throws AppError `unknown_account`
 */
export async function findAccount(store: ObjectStore, idOrEmail: string): Promise<Account> {
  const isId = isAccountId(idOrEmail);
  const id = isId ? idOrEmail : accountIdOf('embedded', normalizeEmail(idOrEmail));
  const account = await readAccount(store, id);
  if (account !== undefined) return account;
  if (!isId) {
    // With other providers, the service cannot derive the id of an account from the address.
    for await (const candidate of listAccounts(store)) {
      if (candidate.email === normalizeEmail(idOrEmail)) return candidate;
    }
  }
  throw unknownAccount();
}

/** Every account, in the order of the ids. */
export async function* listAccounts(store: ObjectStore): AsyncIterable<Account> {
  for await (const { of } of listSequences(store, ACCOUNTS_ROOT, parseAccountKey)) {
    const account = await readAccount(store, of);
    if (account !== undefined) yield account;
  }
}
