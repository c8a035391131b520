import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import type { Command } from 'commander';
import { AppError } from '../../src/errors.ts';
import type { Account } from '../../src/identity/account.ts';
import { listSessions } from '../../src/identity/account-sessions.ts';
import { listDeveloperKeys } from '../../src/identity/developer-keys.ts';
import { createKeySet, rotateKeySet } from '../../src/identity/key-set.ts';
import {
  eraseAccount,
  findAccount,
  listAccounts,
  lockAccount,
  setPassword,
  setTier,
  unlockAccount,
} from '../../src/identity/manage-account.ts';
import { createPasswordHasher } from '../../src/identity/password.ts';
import { type Context, openContext } from './context.ts';
import { alignColumns, formatTime, printJson, printTable } from './output.ts';

/** What staff do to accounts, and the keys that replicas share. */

interface Options {
  readonly json: boolean;
}

export function addAccountCommands(program: Command): void {
  const accounts = program.command('accounts').summary('look after the accounts');
  accounts
    .command('list')
    .summary('list the accounts')
    .option('--json', 'print JSON', false)
    .action(list);
  accountCommand(accounts, 'show', 'show one account, its sessions and keys').action(show);
  accountCommand(accounts, 'set-tier', 'give an account a tier')
    .argument('<tier>', 'one of TIERS, or "default" for what the provider says')
    .action(changeTier);
  accountCommand(accounts, 'lock', 'lock an account and end its sessions')
    .option('--reason <text>', 'for the record')
    .action(lock);
  accountCommand(accounts, 'unlock', 'let a locked account sign in again').action(unlock);
  accountCommand(accounts, 'set-password', 'set a password, read from standard input').action(
    changePassword,
  );
  accountCommand(accounts, 'erase', 'delete everything of an account, for good').action(erase);
  program
    .command('keys')
    .summary('make or rotate ACCESS_TOKEN_KEYS; prints the new value')
    .option(
      '--add',
      'add a key that only verifies, to ACCESS_TOKEN_KEYS: deploy it everywhere',
      false,
    )
    .option('--switch', 'sign with the key that was added: deploy it everywhere', false)
    .option('--retire', 'drop the other keys, ten minutes after that', false)
    .action(keys);
}

function accountCommand(accounts: Command, name: string, summary: string): Command {
  return accounts
    .command(name)
    .summary(summary)
    .argument('<account>', 'its id or its mail address')
    .option('--json', 'print JSON', false);
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

async function list({ json }: Options): Promise<void> {
  const context = await openContext();
  const found = [];
  for await (const account of listAccounts(context.privateStore)) {
    found.push(jsonOf(context, account));
  }
  found.sort((a, b) => (a.email < b.email ? -1 : 1));
  if (json) return printJson({ accounts: found });
  if (found.length === 0) return console.log('There are no accounts yet.');
  printTable(
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

async function show(idOrEmail: string, { json }: Options): Promise<void> {
  const context = await openContext();
  const store = context.privateStore;
  const account = await findAccount(store, idOrEmail);
  const [sessions, developerKeys] = await Promise.all([
    listSessions({ store, clock: context.clock }, account.id),
    listDeveloperKeys(store, account.id),
  ]);
  const facts = jsonOf(context, account);
  if (json) {
    printJson({
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
  console.log(`${account.email} (${account.id})`);
  for (const line of alignColumns([
    ['name', account.name ?? ''],
    ['tier', facts.tier],
    ['provider', account.provider],
    ['verified', account.emailVerified ? 'yes' : 'no'],
    ['state', locked === null ? 'open' : `locked ${formatTime(locked.at)} ${locked.reason ?? ''}`],
    ['registered', formatTime(account.registeredAt)],
    ['changes', String(account.revision - 1)],
  ])) {
    console.log(`  ${line}`);
  }
  if (sessions.length > 0) {
    console.log();
    printTable(
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
    console.log();
    printTable(
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
  idOrEmail: string,
  { json }: Options,
  run: (
    deps: Context & { readonly store: Context['privateStore'] },
    id: string,
  ) => Promise<Account>,
  sentence: (account: Account, context: Context) => string,
): Promise<void> {
  const context = await openContext();
  const { id } = await findAccount(context.privateStore, idOrEmail);
  const account = await run({ ...context, store: context.privateStore }, id);
  if (json) printJson(jsonOf(context, account));
  else console.log(sentence(account, context));
}

async function changeTier(idOrEmail: string, tier: string, options: Options): Promise<void> {
  await change(
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
      `${account.email} has the tier ${jsonOf(context, account).tier}. Clients learn of it with their next refresh, within ten minutes.`,
  );
}

async function lock(idOrEmail: string, options: Options & { reason?: string }): Promise<void> {
  await change(
    idOrEmail,
    options,
    (context, id) => lockAccount(context, id, options.reason ?? null),
    (account) =>
      `${account.email} is locked and signed out everywhere, within ten minutes. "slipway accounts unlock" undoes it.`,
  );
}

async function unlock(idOrEmail: string, options: Options): Promise<void> {
  await change(idOrEmail, options, unlockAccount, (account) => `${account.email} can sign in.`);
}

async function changePassword(idOrEmail: string, options: Options): Promise<void> {
  const password = await readPassword();
  await change(
    idOrEmail,
    options,
    (context, id) => setPassword({ ...context, passwords: createPasswordHasher() }, id, password),
    (account) =>
      `${account.email} has the new password, and is signed out everywhere, within ten minutes.`,
  );
}

/** Never an argument: those are in the shell's history, and everybody sees them in `ps`. */
async function readPassword(): Promise<string> {
  const isTerminal = process.stdin.isTTY === true;
  if (isTerminal) process.stderr.write('New password (it is not shown): ');
  const unseen = new Writable({ write: (_chunk, _encoding, done) => done() });
  const input = createInterface({ input: process.stdin, output: unseen, terminal: isTerminal });
  try {
    for await (const line of input) {
      if (line !== '') return line;
      break;
    }
  } finally {
    input.close();
    if (isTerminal) process.stderr.write('\n');
  }
  throw new AppError(
    'invalid_request',
    'No password came from standard input. Type one, or pipe it in: slipway accounts set-password ADDRESS < file',
  );
}

async function erase(idOrEmail: string, { json }: Options): Promise<void> {
  const context = await openContext();
  // By its id also when an erasure was cut short: the account is gone then, and not all of the rest.
  const isId = /^[0-9a-f]{32}$/.test(idOrEmail);
  const id = isId ? idOrEmail : (await findAccount(context.privateStore, idOrEmail)).id;
  await eraseAccount({ ...context, store: context.privateStore }, id);
  if (json) printJson({ id, erased: true });
  else console.log(`Everything of account ${id} is deleted.`);
}

async function keys(options: { add: boolean; switch: boolean; retire: boolean }): Promise<void> {
  const steps = (['add', 'switch', 'retire'] as const).filter((step) => options[step]);
  const [step] = steps;
  if (step === undefined) return console.log(await createKeySet());
  if (steps.length > 1) {
    throw new AppError(
      'invalid_request',
      'One step at a time: --add, then --switch, then --retire.',
    );
  }
  const { config } = await openContext();
  const { accessTokenKeys } = config.accounts;
  if (accessTokenKeys === undefined) {
    throw new AppError(
      'invalid_configuration',
      `Set ACCESS_TOKEN_KEYS to the present keys: --${step} works on them.`,
    );
  }
  console.log(await rotateKeySet(accessTokenKeys.reveal(), step));
}
