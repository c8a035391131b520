import { type Command, InvalidArgumentError, Option } from 'commander';
import {
  eraseExisting,
  type ListedMessage,
  listMessages,
  MESSAGE_STATES,
  type MessageState,
  redeliverMessage,
  type ShownMessage,
  showMessage,
} from '../../src/contact/inspect.ts';
import { openContext } from './context.ts';
import { alignColumns, formatTime, printableText, printJson, printTable } from './output.ts';

export function addContactCommands(program: Command): void {
  const contact = program.command('contact').summary('look after messages from the contact form');
  contact
    .command('list')
    .summary('list messages, newest first')
    .addOption(new Option('--state <state>', 'only these (default: all)').choices(MESSAGE_STATES))
    .option('--limit <count>', 'how many', positive, 50)
    .option('--json', 'print JSON', false)
    .action(list);
  contact
    .command('show')
    .summary('show one message and how its delivery went')
    .argument('<id>')
    .option('--json', 'print JSON', false)
    .action(show);
  contact
    .command('redeliver')
    .summary('deliver a message again, from the start')
    .argument('<id>')
    .option('--json', 'print JSON', false)
    .action(redeliver);
  contact
    .command('erase')
    .summary('erase a message for good, delivered or not')
    .argument('<id>')
    .option('--json', 'print JSON', false)
    .action(erase);
}

function positive(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number from 1.');
}

async function list(options: {
  state?: MessageState;
  limit: number;
  json: boolean;
}): Promise<void> {
  const { privateStore } = await openContext();
  const damaged: { id: string; reason: string }[] = [];
  const messages = await listMessages(
    privateStore,
    { state: options.state, limit: options.limit },
    (id, reason) => damaged.push({ id, reason }),
  );
  if (options.json) {
    printJson({ messages: messages.map(listedJsonOf), damaged });
    return;
  }
  if (messages.length === 0) {
    console.log(
      options.state === undefined ? 'There are no messages.' : `No message is ${options.state}.`,
    );
  } else {
    printTable(
      ['id', 'accepted', 'state', 'attempts', 'from', 'subject'],
      messages.map(({ id, acceptedAt, state, attemptCount, email, subject }) => [
        id,
        formatTime(acceptedAt),
        state,
        String(attemptCount),
        email,
        subject,
      ]),
    );
  }
  if (messages.some(({ state }) => state === 'dead')) {
    console.log(
      '\nDead ones are not tried any more: "slipway contact redeliver <id>" tries again.',
    );
  }
  for (const { id, reason } of damaged) {
    console.log(
      printableText(`\n${id} cannot be read: ${reason} "slipway contact erase" removes it.`),
    );
  }
}

async function show(id: string, options: { json: boolean }): Promise<void> {
  const { privateStore } = await openContext();
  const message = await showMessage(privateStore, id);
  if (options.json) {
    printJson({
      ...listedJsonOf(message),
      message: message.message,
      redeliveries: message.redeliveries,
      attempts: message.attempts.map(attemptJsonOf),
    });
    return;
  }
  const facts: readonly (readonly [string, string])[] = [
    ['from', `${message.name} <${message.email}>`],
    ['subject', message.subject],
    ['accepted', formatTime(message.acceptedAt)],
    ['state', stateSentence(message)],
  ];
  console.log(`Message ${message.id}`);
  for (const line of alignColumns(facts)) console.log(`  ${line}`);
  console.log(printableText(`\n${message.message}`));
  if (message.attempts.length > 0) console.log();
  if (message.attempts.length > 0) {
    printTable(
      ['attempt', 'at', 'result', 'detail'],
      message.attempts.map(({ number, at, outcome }) => [
        String(number),
        at === undefined ? '' : formatTime(at),
        outcome?.result ?? 'no outcome',
        outcome?.detail ?? '',
      ]),
    );
  }
}

function stateSentence({ state, nextAt, id }: ShownMessage): string {
  if (state === 'dead') return `dead; "slipway contact redeliver ${id}" tries again`;
  return nextAt === undefined ? state : `${state}; next attempt ${formatTime(nextAt)}`;
}

async function redeliver(id: string, options: { json: boolean }): Promise<void> {
  const context = await openContext();
  const { privateStore: store, clock, randomness, actor } = context;
  const { round } = await redeliverMessage({ store, clock, randomness }, id, actor);
  if (options.json) printJson({ id, redelivery: round, state: 'pending' });
  else {
    console.log(`${id} is to be delivered again (redelivery ${round}).`);
    console.log('A running service that has SMTP_URL set delivers it, within a minute.');
  }
}

async function erase(id: string, options: { json: boolean }): Promise<void> {
  const { privateStore: store, clock, randomness } = await openContext();
  await eraseExisting({ store, clock, randomness }, id);
  if (options.json) printJson({ id, state: 'erased' });
  else console.log(`${id} is erased. A mail that has been sent already is where it was sent.`);
}

function listedJsonOf(message: ListedMessage): object {
  const { id, acceptedAt, state, name, email, subject, attemptCount, detail, nextAt } = message;
  return {
    id,
    accepted_at: acceptedAt,
    state,
    name,
    email,
    subject,
    attempt_count: attemptCount,
    detail: detail ?? null,
    next_at: nextAt ?? null,
  };
}

function attemptJsonOf({ number, at, outcome }: ShownMessage['attempts'][number]): object {
  return {
    number,
    at: at ?? null,
    result: outcome?.result ?? null,
    detail: outcome?.detail ?? null,
    ended_at: outcome?.at ?? null,
    next_at: outcome?.next_at ?? null,
  };
}
