import { type Command, Option } from 'commander';
import { MESSAGE_STATES } from '../../src/contact/message-state.ts';
import { addDryRunOption, addJsonOption, parseCount } from './arguments.ts';
import type { Runner } from './command-line.ts';
import { type Description, describeCommand } from './description.ts';

/** Commands for the messages from the contact form. */

const load = () => import('./run/contact.ts');
const ID = '0123456789abcdef0123456789abcdef';

export function addContactCommands(program: Command, run: Runner): void {
  const contact = describeCommand(program.command('contact'), {
    summary: 'look after messages from the contact form',
    does: 'Lists, shows, delivers again and erases messages from the contact form.',
    effect: 'depends on the command; see their own help.',
    examples: ['contact list --state dead'],
  });
  const list = describeCommand(contact.command('list'), {
    summary: 'list messages, newest first',
    does: 'Lists messages with their state of delivery, newest first.',
    effect: 'none; it only reads.',
    examples: ['contact list', 'contact list --state dead --limit 10'],
  });
  addJsonOption(
    list
      .addOption(new Option('--state <state>', 'only these (default: all)').choices(MESSAGE_STATES))
      .option('--limit <count>', 'how many', parseCount, 50),
  ).action(run(async () => (await load()).list));
  messageCommand(contact, 'show', {
    summary: 'show one message and how its delivery went',
    does: 'Shows the text of a message and every attempt to deliver it.',
    effect: 'none; it only reads.',
    examples: [`contact show ${ID}`],
  }).action(run(async () => (await load()).show));
  addDryRunOption(
    messageCommand(contact, 'redeliver', {
      summary: 'deliver a message again, from the start',
      does: 'Puts a message back in the queue, whether it was delivered or given up.',
      effect: 'a running service sends its mail again within a minute.',
      examples: [`contact redeliver ${ID}`],
    }),
  ).action(run(async () => (await load()).redeliver));
  addDryRunOption(
    messageCommand(contact, 'erase', {
      summary: 'erase a message for good, delivered or not',
      does: 'Deletes a message and everything stored about it.',
      effect:
        'it cannot be read or delivered any more. A mail that was sent stays where it was sent.',
      examples: [`contact erase ${ID} --dry-run`],
    }),
  ).action(run(async () => (await load()).erase));
}

function messageCommand(contact: Command, name: string, description: Description): Command {
  const command = describeCommand(contact.command(name), description);
  return addJsonOption(command.argument('<id>', 'as "slipway contact list" shows it'));
}
