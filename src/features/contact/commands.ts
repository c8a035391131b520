import { type Command, Option } from 'commander';
import { addDryRunOption, addJsonOption, parseCount } from '../../cli/arguments.ts';
import { type Description, describeCommand } from '../../cli/description.ts';
import type { Runner } from '../../cli/runner.ts';
import { MESSAGE_STATES } from './message-state.ts';

/** The commands for messages from the contact form. */

const load = () => import('./run.ts');
const ID = '0123456789abcdef0123456789abcdef';

export function addContactCommands(program: Command, run: Runner): void {
  program.commandsGroup('Accounts and messages:');
  const contact = describeCommand(program.command('contact'), {
    summary: 'manage messages from the contact form',
    does: 'Lists, shows, redelivers and erases messages from the contact form.',
    effect: 'depends on the command. See the help of each command.',
    examples: ['contact list --state dead'],
  });
  const list = describeCommand(contact.command('list'), {
    summary: 'list messages, newest first',
    does: 'Lists messages with the state of their delivery, newest first.',
    effect: 'none; it only reads.',
    examples: ['contact list', 'contact list --state dead --limit 10'],
  });
  addJsonOption(
    list
      .addOption(
        new Option('--state <state>', 'only messages in this state (default: all)').choices(
          MESSAGE_STATES,
        ),
      )
      .option('--limit <count>', 'the number of messages to list', parseCount, 50),
  ).action(run(async () => (await load()).list));
  messageCommand(contact, 'show', {
    summary: 'show a message and its delivery attempts',
    does: 'Shows the text of a message and every attempt to deliver it by mail.',
    effect: 'none; it only reads.',
    examples: [`contact show ${ID}`],
  }).action(run(async () => (await load()).show));
  addDryRunOption(
    messageCommand(contact, 'redeliver', {
      summary: 'deliver a message again, from the start',
      does: 'Puts a message back in the queue, also when it was delivered or is dead.',
      effect: 'a running service sends the mail again within a minute.',
      examples: [`contact redeliver ${ID}`],
    }),
  ).action(run(async () => (await load()).redeliver));
  addDryRunOption(
    messageCommand(contact, 'erase', {
      summary: 'erase a message permanently',
      does: 'Deletes a message in any state, and everything that is stored about it.',
      effect:
        'the message can no longer be read or delivered. A mail that was sent already is not recalled.',
      examples: [`contact erase ${ID} --dry-run`],
    }),
  ).action(run(async () => (await load()).erase));
}

function messageCommand(contact: Command, name: string, description: Description): Command {
  const command = describeCommand(contact.command(name), description);
  return addJsonOption(
    command.argument('<id>', 'the id of the message, from "slipway contact list"'),
  );
}
