import { askHidden } from '../../cli/ask-hidden.ts';
import { requireConsent } from '../../cli/consent.ts';
import { type Context, openContext } from '../../cli/context.ts';
import { alignColumns, formatTime, printJson, printTable } from '../../cli/output.ts';
import { print, type Terminal } from '../../cli/terminal.ts';
import { AppError } from '../../core/errors.ts';
import { readAccount } from './accounts/account.ts';
import type { Account } from './accounts/account-document.ts';
import { setTier } from './accounts/change-account.ts';
import { findAccount, isAccountId, listAccounts } from './accounts/find-account.ts';
import { setPassword } from './change-password.ts';
import { type DeveloperKey, listDeveloperKeys } from './developer-keys/developer-keys.ts';
import { eraseAccount } from './erase-account.ts';
import { lockAccount, unlockAccount } from './lock-account.ts';
import { listSessions, type SessionSummary } from './sessions/list-sessions.ts';

interface Options {
  readonly json: boolean;
}

function jsonOf(context: Context, account: Account) {
  return {
    id: account.id,
    email: account.email,
    email_verified: account.emailVerified,
    name: account.name,
    provider: account.provider,
    tier: context.config.accounts.tiers.tierNamed(account.tier),
    locked: account.locked,
    registered_at: account.registeredAt,
    revision: account.revision,
  };
}

export async function list(terminal: Terminal, { json }: Options): Promise<void> {
  const context = await openContext(terminal, { subject: 'private data' });
  const found = [];
  for await (const account of listAccounts(context.privateStore)) {
    found.push(jsonOf(context, account));
  }
  found.sort((a, b) => (a.email < b.email ? -1 : 1));
  if (json) return printJson(terminal, { accounts: found });
  if (found.length === 0) return print(terminal, `There are no accounts in ${context.place.text}.`);
  print(terminal, `Accounts in ${context.place.text}:`);
  printTable(
    terminal,
    ['address', 'name', 'tier', 'state', 'registered', 'id'],
    found.map((account) => [
      account.email,
      account.name ?? '',
      account.tier,
      account.locked === null ? 'open' : 'locked',
      formatTime(account.registered_at),
      account.id,
    ]),
  );
}

export async function show(
  terminal: Terminal,
  idOrEmail: string,
  { json }: Options,
): Promise<void> {
  const context = await openContext(terminal, { subject: 'private data' });
  const store = context.privateStore;
  const account = await findAccount(store, idOrEmail);
  const [sessions, developerKeys] = await Promise.all([
    listSessions({ store, clock: context.clock }, account.id),
    listDeveloperKeys(store, account.id),
  ]);
  const facts = jsonOf(context, account);
  if (json) {
    printJson(terminal, {
      ...facts,
      sessions: sessions.map((session) => ({
        id: session.id,
        platform: session.platform,
        device_name: session.deviceName,
        started_at: session.startedAt,
        refreshed_at: session.refreshedAt,
      })),
      developer_keys: developerKeys.map((key) => ({
        id: key.id,
        name: key.name,
        scopes: key.scopes,
        expires_at: key.expiresAt,
        last_used_on: key.lastUsedOn,
      })),
    });
    return;
  }
  const { locked } = account;
  print(terminal, `${account.email} (${account.id}) in ${context.place.text}`);
  for (const line of alignColumns([
    ['name', account.name ?? ''],
    ['tier', facts.tier],
    ['provider', account.provider],
    ['verified', account.emailVerified ? 'yes' : 'no'],
    ['state', locked === null ? 'open' : `locked ${formatTime(locked.at)} ${locked.reason ?? ''}`],
    ['registered', formatTime(account.registeredAt)],
    ['changes', String(account.revision - 1)],
  ])) {
    print(terminal, `  ${line}`);
  }
  printSessions(terminal, sessions);
  printDeveloperKeys(terminal, developerKeys);
}

function printSessions(terminal: Terminal, sessions: readonly SessionSummary[]): void {
  if (sessions.length === 0) return;
  print(terminal);
  printTable(
    terminal,
    ['session', 'platform', 'device', 'started', 'last refreshed'],
    sessions.map((session) => [
      session.id,
      session.platform,
      session.deviceName,
      formatTime(session.startedAt),
      formatTime(session.refreshedAt),
    ]),
  );
}

function printDeveloperKeys(terminal: Terminal, keys: readonly DeveloperKey[]): void {
  if (keys.length === 0) return;
  print(terminal);
  printTable(
    terminal,
    ['key', 'name', 'scopes', 'expires', 'last used'],
    keys.map((key) => [
      key.id,
      key.name,
      key.scopes.map(({ application, access }) => `${application}:${access}`).join(' '),
      formatTime(key.expiresAt),
      key.lastUsedOn ?? 'never',
    ]),
  );
}

/** Makes one change and prints its result. */
async function change(
  terminal: Terminal,
  idOrEmail: string,
  { json }: Options,
  run: (
    deps: Context & { readonly store: Context['privateStore'] },
    id: string,
  ) => Promise<Account>,
  sentence: (account: Account, context: Context) => string,
): Promise<void> {
  const context = await openContext(terminal, { subject: 'private data' });
  const { id } = await findAccount(context.privateStore, idOrEmail);
  const account = await run({ ...context, store: context.privateStore }, id);
  if (json) printJson(terminal, jsonOf(context, account));
  else print(terminal, sentence(account, context));
}

export async function changeTier(
  terminal: Terminal,
  idOrEmail: string,
  tier: string,
  options: Options,
): Promise<void> {
  await change(
    terminal,
    idOrEmail,
    options,
    (context, id) => {
      const { names } = context.config.accounts.tiers;
      if (tier !== 'default' && !names.includes(tier)) {
        throw new AppError(
          'invalid_request',
          `There is no tier ${JSON.stringify(tier)}. TIERS has: ${names.join(', ')}. "default" removes the tier that an admin set.`,
        );
      }
      return setTier(context, id, tier === 'default' ? null : tier);
    },
    (account, context) =>
      `${account.email} in ${context.place.text} has the tier ${jsonOf(context, account).tier}. Its clients get it with their next refresh, within ten minutes.`,
  );
}

export async function lock(
  terminal: Terminal,
  idOrEmail: string,
  options: Options & { reason?: string },
): Promise<void> {
  await change(
    terminal,
    idOrEmail,
    options,
    (context, id) => lockAccount(context, id, options.reason ?? null),
    (account, { place }) =>
      `${account.email} in ${place.text} is locked and signed out everywhere. Access tokens that it has are valid for up to ten minutes more. "slipway accounts unlock" unlocks it.`,
  );
}

export async function unlock(
  terminal: Terminal,
  idOrEmail: string,
  options: Options,
): Promise<void> {
  await change(
    terminal,
    idOrEmail,
    options,
    unlockAccount,
    (account, { place }) => `${account.email} in ${place.text} is unlocked and can sign in.`,
  );
}

export async function changePassword(
  terminal: Terminal,
  idOrEmail: string,
  options: Options,
): Promise<void> {
  const password = await readPassword(terminal);
  const { createPasswordHasher } = await import('./passwords/password-hasher.ts');
  await change(
    terminal,
    idOrEmail,
    options,
    (context, id) => setPassword({ ...context, passwords: createPasswordHasher() }, id, password),
    (account, { place }) =>
      `${account.email} in ${place.text} has the new password and is signed out everywhere. Its developer keys are revoked. Access tokens that it has are valid for up to ten minutes more.`,
  );
}

async function readPassword(terminal: Terminal): Promise<string> {
  const password = await askHidden(terminal, 'New password');
  if (password !== undefined) return password;
  throw new AppError(
    'invalid_request',
    'Standard input has no password. Type one, or pipe one in: slipway accounts set-password ADDRESS < file',
  );
}

export async function erase(
  terminal: Terminal,
  idOrEmail: string,
  { json, yes }: Options & { readonly yes: boolean },
): Promise<void> {
  const context = await openContext(terminal, { subject: 'private data' });
  const where = `in ${context.place.text}`;
  // The command also accepts the id of an account that is gone: it then completes an erasure that failed half way.
  const account = isAccountId(idOrEmail)
    ? await readAccount(context.privateStore, idOrEmail)
    : await findAccount(context.privateStore, idOrEmail);
  const id = account?.id ?? idOrEmail;
  const name = account === undefined ? `account ${id}` : `${account.email} (${id})`;
  if (!yes) {
    await requireConsent(
      terminal,
      `This deletes ${name} ${where} with its sessions, developer keys and invitations. It cannot be undone.`,
    );
  }
  await eraseAccount({ ...context, store: context.privateStore }, id);
  if (json) printJson(terminal, { id, erased: true });
  else
    print(terminal, `Deleted ${name} ${where} with its sessions, developer keys and invitations.`);
}
