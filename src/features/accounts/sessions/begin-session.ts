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
 * Begins a session. The service chooses its id, so that no client can choose it.
 *
 * @param provenAt the arrival time of the request that proved the password, in milliseconds since the epoch. A new
 *   password or a sign-out everywhere after that time ends the session
 * @throws AppError `account_locked` when the account was locked meanwhile, `session_ended` when the account was erased
 *   or signed out everywhere
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
  // To lock or erase an account, the service first changes the account and then ends its sessions. When a session
  // begins between the two, either the service lists and ends it there, or this read finds the change.
  const reason = whyEnded(account, await readAccount(deps.store, account.id), state);
  if (reason === undefined) return openSessionOf(tokens, state);
  await endSession(deps, account.id, state.session, reason);
  throw reason === 'account_locked' ? accountLocked() : sessionEnded();
}

/**
 * The reason why a new session must end, found in the changes to the account since sign-in read it; undefined if the
 * session continues.
 */
function whyEnded(
  then: Account,
  now: Account | undefined,
  { session, started_at: startedAt }: SessionJson,
): EndReason | undefined {
  if (now === undefined) return 'account_erased';
  if (now.locked !== null) return 'account_locked';
  // Any new value ends the session, whatever time it states, because the clocks of two processes may differ.
  const isNew = now.sessionsEnded?.before !== then.sessionsEnded?.before;
  const isOver = isNew || endsSession(now, session, Date.parse(startedAt));
  return isOver ? 'signed_out_everywhere' : undefined;
}
