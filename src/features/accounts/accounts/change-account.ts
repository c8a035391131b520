import { type AppendDeps, appendDocument } from '../../../store/sequence/append.ts';
import { seal } from '../../../store/sequence/sealed.ts';
import { isLongGone } from '../../../store/sequence/trim.ts';
import { notSignedIn, unknownAccount } from '../identity-errors.ts';
import { readAccount } from './account.ts';
import {
  type Account,
  type AccountJson,
  accountOf,
  accountSequence,
  renderAccount,
} from './account-document.ts';

/** Changes accounts: each change appends one document. */

/** The fields that one change sets. */
interface AccountEdit
  extends Partial<
    Pick<
      Account,
      | 'email'
      | 'emailVerified'
      | 'name'
      | 'adminTier'
      | 'providerTier'
      | 'locked'
      | 'sessionsEnded'
      | 'keysNotBefore'
      | 'password'
    >
  > {
  /** The name of the change in the record: `name`, `locked`, … */
  readonly change: string;
}

/**
 * Checks that the session that requests the change has not ended. The service calls the guard on every try with the
 * newest state: when another writer locks the account between two tries, the second try fails.
 *
 * @throws AppError `not_signed_in`
 */
export type ChangeGuard = (account: Account) => Promise<void>;

export interface ChangeDeps extends AppendDeps {
  /** Undefined for changes by admins. */
  readonly guard?: ChangeGuard;
}

/**
 * Commits one change to an account.
 *
 * @param edit returns undefined when nothing has to change. When another writer commits first, the service calls `edit`
 *   again with the newer state
 * @throws AppError `unknown_account`, `ended`; the code of the guard when it refuses the change
 */
export async function changeAccount(
  deps: ChangeDeps,
  id: string,
  edit: (account: Account) => AccountEdit | undefined,
): Promise<Account> {
  const appended = await appendDocument(deps, accountSequence(id), async (base) => {
    const { newest, number, skipped } = base;
    // `readAccount` has the same rule: with too many corrupt documents, the state is unknown.
    if (newest === undefined || isLongGone(newest.number, number - 1, skipped.length)) {
      throw unknownAccount();
    }
    const current = newest.document.signed;
    const account = accountOf(current);
    await deps.guard?.(account);
    const edited = edit(account);
    if (edited === undefined) return undefined;
    return seal<AccountJson>({
      ...current,
      ...renderAccount({ ...account, ...edited }),
      number,
      skipped: [...skipped],
      change_id: base.changeId,
      at: new Date(deps.clock.now()).toISOString(),
      change: edited.change,
    });
  });
  const newest =
    appended.outcome === 'created' ? appended.entry.document : appended.newest?.document;
  if (newest === undefined) throw unknownAccount();
  return accountOf(newest.signed);
}

/**
 * The account that an owner is about to change.
 *
 * @throws AppError `not_signed_in` when the account is locked or erased, or when the guard refuses the change
 */
export async function requireOpenAccount(
  { store, guard }: Pick<ChangeDeps, 'store' | 'guard'>,
  id: string,
): Promise<Account> {
  const account = await readAccount(store, id);
  if (account === undefined || account.locked !== null) throw notSignedIn();
  await guard?.(account);
  return account;
}

/** @throws AppError `unknown_account`, `ended` */
export function setName(deps: ChangeDeps, id: string, name: string | null): Promise<Account> {
  return changeAccount(deps, id, (account) =>
    account.name === name ? undefined : { change: 'name', name },
  );
}

/**
 * @param tier a tier of the tier table; null for the tier that the provider claims
 * @throws AppError `unknown_account`, `ended`
 */
export function setTier(deps: AppendDeps, id: string, tier: string | null): Promise<Account> {
  return changeAccount(deps, id, (account) =>
    account.adminTier === tier ? undefined : { change: 'tier', adminTier: tier },
  );
}
