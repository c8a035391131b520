import { createRetrying } from '../../../store/sequence/create-settled.ts';
import { SCHEMA_VERSION } from '../../../store/sequence/envelope.ts';
import { seal } from '../../../store/sequence/sealed.ts';
import { readAccount } from '../accounts/account.ts';
import { type Account, endsSession } from '../accounts/account-document.ts';
import { accountLocked, sessionEnded } from '../identity-errors.ts';
import { type EndReason, endSession } from './end-session.ts';
import { type OpenSession, openSessionOf, type SessionDeps } from './open-session.ts';
import {
  accountCopyOf,
  type ClientPlatform,
  type SessionJson,
  sessionSequence,
} from './session-document.ts';
import { SESSION_LIFE_MS } from './session-lifetimes.ts';

export interface Device {
  readonly id: string;
  readonly name: string;
  readonly osVersion: string | null;
  readonly appVersion: string | null;
}

/**
 * Begins a session, under an id that no client can choose.
 *
 * @param provenAt the time at which the request that proved the password arrived, in milliseconds since the epoch; a
 *   new password or a sign-out everywhere after that time ends the session
 * @throws AppError `account_locked` when the account was locked meanwhile, `session_ended` when it was erased or signed
 *   out everywhere
 */
export async function beginSession(
  deps: SessionDeps,
  account: Account,
  platform: ClientPlatform,
  device: Device,
  provenAt = deps.clock.now(),
): Promise<OpenSession> {
  const { tokens, randomness } = deps;
  const now = deps.clock.now();
  const state: SessionJson = {
    schema_version: SCHEMA_VERSION,
    type: 'session',
    account: account.id,
    session: randomness.id(),
    counter: 1,
    change_id: randomness.id(),
    at: new Date(now).toISOString(),
    started_at: new Date(provenAt).toISOString(),
    expires_at: new Date(now + SESSION_LIFE_MS).toISOString(),
    platform,
    device: {
      digest: tokens.deviceDigest(device.id),
      name: device.name,
      os_version: device.osVersion,
      app_version: device.appVersion,
    },
    ...accountCopyOf(account),
  };
  const sequence = sessionSequence(account.id, state.session);
  await createRetrying(deps, sequence.key(1), sequence.render(seal(state)));
  // Locking and erasing change the account first and end its sessions after that. A session that begins
  // between the two is either listed there, or finds the change here.
  const reason = whyEnded(account, await readAccount(deps.store, account.id), state);
  if (reason === undefined) return openSessionOf(tokens, state);
  await endSession(deps, account.id, state.session, reason);
  throw reason === 'account_locked' ? accountLocked() : sessionEnded();
}

/**
 * The reason for which a new session must end, from changes to the account since it was read; undefined if it
 * continues.
 */
function whyEnded(
  then: Account,
  now: Account | undefined,
  { session, started_at: startedAt }: SessionJson,
): EndReason | undefined {
  if (now === undefined) return 'account_erased';
  if (now.locked !== null) return 'account_locked';
  // Any new end counts, with any time: the clocks of two processes may differ.
  const isNew = now.sessionsEnded?.before !== then.sessionsEnded?.before;
  const isOver = isNew || endsSession(now, session, Date.parse(startedAt));
  return isOver ? 'signed_out_everywhere' : undefined;
}
