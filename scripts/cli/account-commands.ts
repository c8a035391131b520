import type { Command } from 'commander';
import { addDryRunOption } from './arguments.ts';
import type { Runner } from './command-line.ts';

/** Commands for the accounts, and for the keys that replicas share. */

const load = () => import('./run/accounts.ts');

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
  accountChange(accounts, 'set-tier', 'give an account a tier')
    .argument('<tier>', 'one of TIERS, or "default" for what the provider says')
    .action(run(async () => (await load()).changeTier));
  accountChange(accounts, 'lock', 'lock an account and end its sessions')
    .option('--reason <text>', 'for the record')
    .action(run(async () => (await load()).lock));
  accountChange(accounts, 'unlock', 'let a locked account sign in again').action(
    run(async () => (await load()).unlock),
  );
  accountChange(accounts, 'set-password', 'set a password, read from standard input').action(
    run(async () => (await load()).changePassword),
  );
  accountChange(accounts, 'erase', 'delete everything of an account, for good').action(
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

function accountChange(accounts: Command, name: string, summary: string): Command {
  return addDryRunOption(accountCommand(accounts, name, summary));
}
