import { isEnded } from '../sequence/end.ts';
import { notSignedIn } from './access-tokens/access-token.ts';
import { type ChangeDeps, changeAccount, readAccount } from './accounts/account.ts';
import { eraseAccount } from './erase-account.ts';
import { accountPrefix } from './keys.ts';
import { type ProofDeps, proveOwner } from './passwords/prove-password.ts';

/**
 * Deletes everything of an account, as its owner asks with their password.
 *
 * That it will be erased is committed to the account first: a lock or a log-out that comes while the
 * password is being checked refuses it. Asked for again, it finishes an erasure that failed half way.
 *
 * @throws AppError `not_signed_in`, those of `proveOwner`, and those of `changeAccount`
 */
export async function eraseOwnAccount(
  deps: ChangeDeps & ProofDeps,
  id: string,
  password: string,
): Promise<void> {
  const account = await readAccount(deps.store, id);
  if (account !== undefined) {
    await deps.guard?.(account);
    await proveOwner(deps, account, password);
    await changeAccount(deps, id, () => ({ change: 'to be erased' }));
  } else if (!(await isEnded(deps.store, accountPrefix(id)))) {
    throw notSignedIn();
  }
  await eraseAccount(deps, id);
}
