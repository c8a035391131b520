import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { AppError } from '../../../src/errors.ts';
import type { Account } from '../../../src/identity/accounts/account-document.ts';
import { setTier } from '../../../src/identity/accounts/change-account.ts';
import { findAccount, listAccounts } from '../../../src/identity/accounts/find-account.ts';
import { setPassword } from '../../../src/identity/change-password.ts';
import { listDeveloperKeys } from '../../../src/identity/developer-keys/developer-keys.ts';
import { eraseAccount } from '../../../src/identity/erase-account.ts';
import { lockAccount, unlockAccount } from '../../../src/identity/lock-account.ts';
import { listSessions } from '../../../src/identity/sessions/list-sessions.ts';
import { type Context, openContext } from '../context.ts';
import { alignColumns, formatTime, printJson, printTable } from '../output.ts';
import { print, type Terminal } from '../terminal.ts';

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
  if (sessions.length > 0) {
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
  if (developerKeys.length > 0) {
    print(terminal);
    printTable(
      terminal,
      ['key', 'name', 'scopes', 'expires', 'last used'],
      developerKeys.map((key) => [
        key.id,
        key.name,
        key.scopes.map(({ application, access }) => `${application}:${access}`).join(' '),
        formatTime(key.expiresAt),
        key.lastUsedOn ?? 'never',
      ]),
    );
  }
}

/** Runs one change and says what came of it. */
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
          `There is no tier ${JSON.stringify(tier)}. TIERS has: ${names.join(', ')}.`,
        );
      }
      return setTier(context, id, tier === 'default' ? null : tier);
    },
    (account, context) =>
      `${account.email} in ${context.place.text} has the tier ${jsonOf(context, account).tier}. Clients learn of it with their next refresh, within ten minutes.`,
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
      `${account.email} in ${place.text} is locked and signed out everywhere, within ten minutes. "slipway accounts unlock" undoes it.`,
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
    (account, { place }) => `${account.email} in ${place.text} can sign in.`,
  );
}

export async function changePassword(
  terminal: Terminal,
  idOrEmail: string,
  options: Options,
): Promise<void> {
  const password = await readPassword(terminal);
  const { createPasswordHasher } = await import(
    '../../../src/identity/passwords/password-hasher.ts'
  );
  await change(
    terminal,
    idOrEmail,
    options,
    (context, id) => setPassword({ ...context, passwords: createPasswordHasher() }, id, password),
    (account, { place }) =>
      `${account.email} in ${place.text} has the new password, is signed out everywhere within ten minutes, and its developer keys are revoked.`,
  );
}

/** Never an argument: those are in the shell's history, and everybody sees them in `ps`. */
async function readPassword({ stdin, stderr }: Terminal): Promise<string> {
  const isTerminal = stdin.isTTY === true;
  if (isTerminal) stderr.write('New password (it is not shown): ');
  const unseen = new Writable({ write: (_chunk, _encoding, done) => done() });
  const input = createInterface({ input: stdin, output: unseen, terminal: isTerminal });
  try {
    for await (const line of input) {
      if (line !== '') return line;
      break;
    }
  } finally {
    input.close();
    if (isTerminal) stderr.write('\n');
  }
  throw new AppError(
    'invalid_request',
    'No password came from standard input. Type one, or pipe it in: slipway accounts set-password ADDRESS < file',
  );
}

export async function erase(
  terminal: Terminal,
  idOrEmail: string,
  { json }: Options,
): Promise<void> {
  const context = await openContext(terminal, { subject: 'private data' });
  // By its id also when an erasure was cut short: the account is gone then, and not all of the rest.
  const isId = /^[0-9a-f]{32}$/.test(idOrEmail);
  const id = isId ? idOrEmail : (await findAccount(context.privateStore, idOrEmail)).id;
  await eraseAccount({ ...context, store: context.privateStore }, id);
  if (json) printJson(terminal, { id, erased: true });
  else print(terminal, `Everything of account ${id} in ${context.place.text} is deleted.`);
}
