import type { Command } from 'commander';
import { addDryRunOption, addJsonOption } from './arguments.ts';
import type { Runner } from './command-line.ts';
import { type Description, describeCommand } from './description.ts';

/** Commands for the accounts, and for the keys that replicas share. */

const load = () => import('./run/accounts.ts');
const loadInvitations = () => import('./run/invitations.ts');

export function addAccountCommands(program: Command, run: Runner): void {
  program.commandsGroup('Accounts and messages:');
  const accounts = describeCommand(program.command('accounts'), {
    summary: 'look after the accounts',
    does: 'Lists, shows, changes, locks and erases accounts.',
    effect: 'depends on the command; see their own help.',
    examples: ['accounts list'],
  });
  const list = describeCommand(accounts.command('list'), {
    summary: 'list the accounts',
    does: 'Lists every account with its address, tier and state.',
    effect: 'none; it only reads.',
    examples: ['accounts list --json'],
  });
  addJsonOption(list).action(run(async () => (await load()).list));
  accountCommand(accounts, 'show', {
    summary: 'show one account, its sessions and keys',
    does: 'Shows an account with its sessions and developer keys, and no secrets.',
    effect: 'none; it only reads.',
    examples: ['accounts show ada@example.com'],
  }).action(run(async () => (await load()).show));
  accountChange(accounts, 'set-tier', {
    summary: 'give an account a tier',
    does: 'Gives an account one of the TIERS, or takes it back with "default".',
    effect: 'its clients may use the features and channels of that tier within ten minutes.',
    examples: ['accounts set-tier ada@example.com pro'],
  })
    .argument('<tier>', 'one of TIERS, or "default" for what the provider says')
    .action(run(async () => (await load()).changeTier));
  accountChange(accounts, 'lock', {
    summary: 'lock an account and end its sessions',
    does: 'Locks an account and ends its sessions.',
    effect:
      'it is signed out everywhere within ten minutes and cannot sign in until it is unlocked.',
    examples: ['accounts lock ada@example.com --reason "stolen laptop"'],
  })
    .option('--reason <text>', 'for the record')
    .action(run(async () => (await load()).lock));
  accountChange(accounts, 'unlock', {
    summary: 'let a locked account sign in again',
    does: 'Lets a locked account sign in again.',
    effect: 'its owner can sign in again at once.',
    examples: ['accounts unlock ada@example.com'],
  }).action(run(async () => (await load()).unlock));
  accountChange(accounts, 'set-password', {
    summary: 'set a password, read from standard input',
    does: 'Sets the password of an account, read from standard input and never from an argument.',
    effect:
      'the old password stops working, the account is signed out everywhere within ten minutes, and its developer keys are revoked.',
    examples: ['accounts set-password ada@example.com'],
  }).action(run(async () => (await load()).changePassword));
  addInvitationCommands(accounts, run);
  accountChange(accounts, 'erase', {
    summary: 'delete everything of an account, for good',
    does: 'Deletes an account with its sessions, keys and records.',
    effect: 'it cannot be brought back, and is signed out everywhere within ten minutes.',
    examples: ['accounts erase ada@example.com --dry-run'],
  }).action(run(async () => (await load()).erase));
  addKeys(program, run);
}

function addInvitationCommands(accounts: Command, run: Runner): void {
  const invite = describeCommand(accounts.command('invite'), {
    summary: 'invite an address to register; prints a code for it',
    does: 'Makes a code with which one address can register once, for REGISTRATION=invite.',
    effect: 'the code is shown once, here: send it to the address yourself.',
    examples: ['accounts invite ada@example.com', 'accounts invite ada@example.com --days 2'],
  })
    .argument('<email>', 'the address, which the code is good for')
    .option('--days <days>', 'how long the code is good for', '7');
  addJsonOption(addDryRunOption(invite)).action(
    run(async () => (await loadInvitations()).inviteAddress),
  );
  const list = describeCommand(accounts.command('invitations'), {
    summary: 'list the invitations that can still be used',
    does: 'Lists open invitations. It never shows their codes.',
    effect: 'none; it only reads.',
    examples: ['accounts invitations'],
  });
  addJsonOption(list).action(run(async () => (await loadInvitations()).list));
  const withdraw = describeCommand(accounts.command('withdraw'), {
    summary: 'withdraw the invitations of an address',
    does: 'Withdraws every invitation of an address.',
    effect: 'their codes open nothing any more.',
    examples: ['accounts withdraw ada@example.com'],
  }).argument('<email>', 'the address that was invited');
  addJsonOption(addDryRunOption(withdraw)).action(
    run(async () => (await loadInvitations()).withdraw),
  );
}

function addKeys(program: Command, run: Runner): void {
  describeCommand(program.command('keys'), {
    summary: 'make or rotate ACCESS_TOKEN_KEYS; prints the new value',
    does: 'Prints a new ACCESS_TOKEN_KEYS, or the present one after one step of a rotation.',
    effect:
      'nothing changes until you deploy what it prints to every replica. The value is secret.',
    examples: ['keys', 'keys --add'],
  })
    .option(
      '--add',
      'add a key that only verifies, to ACCESS_TOKEN_KEYS: deploy it everywhere',
      false,
    )
    .option('--switch', 'sign with the key that was added: deploy it everywhere', false)
    .option('--retire', 'drop the other keys, ten minutes after that', false)
    .action(run(async () => (await import('./run/keys.ts')).keys));
}

function accountCommand(accounts: Command, name: string, description: Description): Command {
  const command = describeCommand(accounts.command(name), description);
  return addJsonOption(command.argument('<account>', 'its id or its mail address'));
}

function accountChange(accounts: Command, name: string, description: Description): Command {
  return addDryRunOption(accountCommand(accounts, name, description));
}
