import type { Command } from 'commander';
import type { Runner } from './command-line.ts';

/** Commands for the accounts, and for the keys that replicas share. */

const load = () => import('./run/accounts.ts');
const loadInvitations = () => import('./run/invitations.ts');

export function addAccountCommands(program: Command, run: Runner): void {
  const accounts = program.command('accounts').summary('look after the accounts');
  accounts
    .command('list')
    .summary('list the accounts')
    .option('--json', 'print JSON', false)
    .action(run(async () => (await load()).list));
  accountCommand(accounts, 'show', 'show one account, its sessions and keys').action(
    run(async () => (await load()).show),
  );
  accountCommand(accounts, 'set-tier', 'give an account a tier')
    .argument('<tier>', 'one of TIERS, or "default" for what the provider says')
    .action(run(async () => (await load()).changeTier));
  accountCommand(accounts, 'lock', 'lock an account and end its sessions')
    .option('--reason <text>', 'for the record')
    .action(run(async () => (await load()).lock));
  accountCommand(accounts, 'unlock', 'let a locked account sign in again').action(
    run(async () => (await load()).unlock),
  );
  accountCommand(accounts, 'set-password', 'set a password, read from standard input').action(
    run(async () => (await load()).changePassword),
  );
  accounts
    .command('invite')
    .summary('invite an address to register, with REGISTRATION=invite; prints a code for it')
    .argument('<email>', 'the address, which the code is good for')
    .option('--days <days>', 'how long the code is good for', '7')
    .option('--json', 'print JSON', false)
    .action(run(async () => (await loadInvitations()).inviteAddress));
  accounts
    .command('invitations')
    .summary('list the invitations that can still be used')
    .option('--json', 'print JSON', false)
    .action(run(async () => (await loadInvitations()).list));
  accounts
    .command('withdraw')
    .summary('withdraw the invitations of an address')
    .argument('<email>')
    .option('--json', 'print JSON', false)
    .action(run(async () => (await loadInvitations()).withdraw));
  accountCommand(accounts, 'erase', 'delete everything of an account, for good').action(
    run(async () => (await load()).erase),
  );
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
    .action(run(async () => (await import('./run/keys.ts')).keys));
}

function accountCommand(accounts: Command, name: string, summary: string): Command {
  return accounts
    .command(name)
    .summary(summary)
    .argument('<account>', 'its id or its mail address')
    .option('--json', 'print JSON', false);
}
