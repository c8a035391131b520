import type { Command } from 'commander';
import { addDryRunOption, addJsonOption } from '../../cli/arguments.ts';
import { type Description, describeCommand } from '../../cli/description.ts';
import type { Runner } from '../../cli/runner.ts';

/** Commands for accounts, and for the keys that sign access tokens. */

const load = () => import('./run-accounts.ts');
const loadInvitations = () => import('./run-invitations.ts');

export function addAccountCommands(program: Command, run: Runner): void {
  program.commandsGroup('Accounts and messages:');
  const accounts = describeCommand(program.command('accounts'), {
    summary: 'manage accounts and invitations',
    does: 'Lists, shows, changes, locks and erases accounts, and invites addresses to register.',
    effect: 'depends on the command. See the help of each command.',
    examples: ['accounts list', 'accounts erase ada@example.com --dry-run'],
  });
  const list = describeCommand(accounts.command('list'), {
    summary: 'list the accounts',
    does: 'Lists every account with its address, tier and state.',
    effect: 'none; it only reads.',
    examples: ['accounts list --json'],
  });
  addJsonOption(list).action(run(async () => (await load()).list));
  accountCommand(accounts, 'show', {
    summary: 'show one account with its sessions and developer keys',
    does: 'Shows an account with its sessions and developer keys. It shows no secrets.',
    effect: 'none; it only reads.',
    examples: ['accounts show ada@example.com'],
  }).action(run(async () => (await load()).show));
  accountChange(accounts, 'set-tier', {
    summary: 'give an account a tier',
    does: 'Gives an account one of the TIERS. "default" removes the tier that an admin set.',
    effect: 'its clients get the features and channels of that tier within ten minutes.',
    examples: ['accounts set-tier ada@example.com pro'],
  })
    .argument(
      '<tier>',
      'one of TIERS, or "default" for the tier that the identity provider claims, else the first of TIERS',
    )
    .action(run(async () => (await load()).changeTier));
  accountChange(accounts, 'lock', {
    summary: 'lock an account and end its sessions',
    does: 'Locks an account and ends its sessions.',
    effect:
      'its owner is signed out everywhere within ten minutes and cannot sign in until you unlock the account.',
    examples: ['accounts lock ada@example.com --reason "stolen laptop"'],
  })
    .option('--reason <text>', 'why; "accounts show" prints it')
    .action(run(async () => (await load()).lock));
  accountChange(accounts, 'unlock', {
    summary: 'unlock an account',
    does: 'Lets the owner of a locked account sign in again.',
    effect: 'its owner can sign in again at once.',
    examples: ['accounts unlock ada@example.com'],
  }).action(run(async () => (await load()).unlock));
  accountChange(accounts, 'set-password', {
    summary: 'set a password, read from standard input',
    does: 'Sets the password of an account. Reads it from standard input.',
    effect:
      'the old password is not valid any more, the owner is signed out everywhere within ten minutes, and the developer keys of the account are revoked.',
    examples: ['accounts set-password ada@example.com'],
  }).action(run(async () => (await load()).changePassword));
  addInvitationCommands(accounts, run);
  accountChange(accounts, 'erase', {
    summary: 'delete an account permanently',
    does: 'Deletes an account with its sessions, developer keys and invitations. Asks first on a terminal.',
    effect:
      'it cannot be undone. The owner is signed out everywhere within ten minutes, and can register again two hours later.',
    examples: ['accounts erase ada@example.com --dry-run', 'accounts erase ada@example.com --yes'],
  })
    .option('--yes', 'do not ask', false)
    .action(run(async () => (await load()).erase));
  addKeys(program, run);
}

function addInvitationCommands(accounts: Command, run: Runner): void {
  const invite = describeCommand(accounts.command('invite'), {
    summary: 'invite an address to register; prints a code',
    does: 'Creates a code with which one address can register once, for REGISTRATION=invite.',
    effect:
      'it prints the code this once and sends no mail: send the code to the address yourself.',
    examples: ['accounts invite ada@example.com', 'accounts invite ada@example.com --days 2'],
  })
    .argument('<email>', 'the address that may register with the code')
    .option('--days <days>', 'how many days the code is valid', '7');
  addJsonOption(addDryRunOption(invite)).action(
    run(async () => (await loadInvitations()).inviteAddress),
  );
  const list = describeCommand(accounts.command('invitations'), {
    summary: 'list the invitations that can still be used',
    does: 'Lists the invitations that are neither used nor expired. It does not show their codes.',
    effect: 'none; it only reads.',
    examples: ['accounts invitations'],
  });
  addJsonOption(list).action(run(async () => (await loadInvitations()).list));
  const withdraw = describeCommand(accounts.command('withdraw'), {
    summary: 'withdraw the invitations of an address',
    does: 'Withdraws every invitation of an address.',
    effect: 'the address cannot register with their codes any more.',
    examples: ['accounts withdraw ada@example.com'],
  }).argument('<email>', 'the address that was invited');
  addJsonOption(addDryRunOption(withdraw)).action(
    run(async () => (await loadInvitations()).withdraw),
  );
}

function addKeys(program: Command, run: Runner): void {
  describeCommand(program.command('keys'), {
    summary: 'create or rotate ACCESS_TOKEN_KEYS; prints the new value',
    does: 'Prints a new value of ACCESS_TOKEN_KEYS, or the current value after one step of a rotation.',
    effect:
      'nothing changes until you deploy the printed value to every replica. The value is secret.',
    examples: ['keys', 'keys --add'],
  })
    .option(
      '--add',
      'step 1: add a key that only verifies; deploy the value to every replica',
      false,
    )
    .option('--switch', 'step 2: sign with the added key; deploy the value to every replica', false)
    .option(
      '--retire',
      'step 3, ten minutes later: remove the other keys; deploy the value to every replica',
      false,
    )
    .action(run(async () => (await import('./run-keys.ts')).keys));
}

function accountCommand(accounts: Command, name: string, description: Description): Command {
  const command = describeCommand(accounts.command(name), description);
  return addJsonOption(command.argument('<account>', 'its id or mail address'));
}

function accountChange(accounts: Command, name: string, description: Description): Command {
  return addDryRunOption(accountCommand(accounts, name, description));
}
