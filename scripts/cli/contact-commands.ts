import { type Command, Option } from 'commander';
import { MESSAGE_STATES } from '../../src/contact/message-state.ts';
import { addDryRunOption, parseCount } from './arguments.ts';
import type { Runner } from './command-line.ts';

/** Commands for the messages from the contact form. */

const load = () => import('./run/contact.ts');

export function addContactCommands(program: Command, run: Runner): void {
  const contact = program.command('contact').summary('look after messages from the contact form');
  contact
    .command('list')
    .summary('list messages, newest first')
    .addOption(new Option('--state <state>', 'only these (default: all)').choices(MESSAGE_STATES))
    .option('--limit <count>', 'how many', parseCount, 50)
    .option('--json', 'print JSON', false)
    .action(run(async () => (await load()).list));
  contact
    .command('show')
    .summary('show one message and how its delivery went')
    .argument('<id>')
    .option('--json', 'print JSON', false)
    .action(run(async () => (await load()).show));
  addDryRunOption(contact.command('redeliver'))
    .summary('deliver a message again, from the start')
    .argument('<id>')
    .option('--json', 'print JSON', false)
    .action(run(async () => (await load()).redeliver));
  addDryRunOption(contact.command('erase'))
    .summary('erase a message for good, delivered or not')
    .argument('<id>')
    .option('--json', 'print JSON', false)
    .action(run(async () => (await load()).erase));
}
