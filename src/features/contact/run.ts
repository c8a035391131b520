import { openContext } from '../../cli/context.ts';
import { alignColumns, formatTime, printJson, printTable } from '../../cli/output.ts';
import { print, type Terminal } from '../../cli/terminal.ts';
import { eraseExisting } from './erase.ts';
import { listMessages, type ShownMessage, showMessage } from './inspect.ts';
import type { MessageState } from './message-state.ts';
import { redeliverMessage } from './redeliver.ts';
import type { ContactSettings } from './settings.ts';

export async function list(
  terminal: Terminal,
  options: {
    state?: MessageState;
    limit: number;
    json: boolean;
  },
): Promise<void> {
  const { privateStore, config, place } = await openContext<ContactSettings>(terminal, {
    subject: 'private data',
  });
  const hasMail = config.contact.mail !== undefined;
  const unreadable: { id: string; reason: string }[] = [];
  const messages = await listMessages(
    privateStore,
    { state: options.state, limit: options.limit, hasMail },
    (id, reason) => unreadable.push({ id, reason }),
  );
  if (options.json) {
    printJson(terminal, { messages: messages.map(listedJsonOf), unreadable });
    return;
  }
  if (messages.length === 0) {
    print(
      terminal,
      options.state === undefined
        ? `There are no messages in ${place.text}.`
        : `No message in ${place.text} is ${options.state}.`,
    );
  } else {
    print(terminal, `Messages in ${place.text}:`);
    printTable(
      terminal,
      ['id', 'accepted', 'state', 'attempts', 'from', 'subject'],
      messages.map(({ id, acceptedAt, state, attempts, email, subject }) => [
        id,
        formatTime(acceptedAt),
        state,
        String(attempts.length),
        email,
        subject,
      ]),
    );
  }
  if (messages.some(({ state }) => state === 'kept')) {
    print(
      terminal,
      '\nThe service does not send kept messages by mail, because SMTP_URL is not set.',
    );
  }
  if (messages.some(({ state }) => state === 'dead')) {
    print(
      terminal,
      '\nThe service has given up on dead messages. "slipway contact redeliver ID" tries again.',
    );
  }
  for (const { id, reason } of unreadable) {
    print(terminal, `\n${id} cannot be read: ${reason} "slipway contact erase ${id}" removes it.`);
  }
}

export async function show(
  terminal: Terminal,
  id: string,
  options: { json: boolean },
): Promise<void> {
  const { privateStore, config, place } = await openContext<ContactSettings>(terminal, {
    subject: 'private data',
  });
  const message = await showMessage(privateStore, id, config.contact.mail !== undefined);
  if (options.json) {
    printJson(terminal, {
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
  print(terminal, `Message ${message.id} in ${place.text}`);
  for (const line of alignColumns(facts)) print(terminal, `  ${line}`);
  print(terminal, `\n${message.message}`);
  if (message.attempts.length > 0) print(terminal);
  if (message.attempts.length > 0) {
    printTable(
      terminal,
      ['attempt', 'at', 'result', 'detail'],
      message.attempts.map(({ number, at, outcome }) => [
        String(number),
        formatTime(at),
        outcome?.state ?? 'no outcome',
        outcome?.detail ?? '',
      ]),
    );
  }
}

function stateSentence({ state, nextAt, id }: ShownMessage): string {
  if (state === 'kept') return 'kept; not sent by mail, because SMTP_URL is not set';
  if (state === 'dead') return `dead; "slipway contact redeliver ${id}" tries again`;
  return nextAt === undefined ? state : `${state}; next attempt ${formatTime(nextAt)}`;
}

export async function redeliver(
  terminal: Terminal,
  id: string,
  options: { json: boolean },
): Promise<void> {
  const context = await openContext(terminal, { subject: 'private data' });
  const { privateStore: store, clock, randomness, actor } = context;
  const { redelivery } = await redeliverMessage({ store, clock, randomness }, id, actor);
  if (options.json) printJson(terminal, { id, redelivery, state: 'pending' });
  else {
    print(
      terminal,
      `${id} in ${context.place.text} is queued for delivery again (redelivery ${redelivery}).`,
    );
    print(terminal, 'A running service with SMTP_URL delivers it within a minute.');
  }
}

export async function erase(
  terminal: Terminal,
  id: string,
  options: { json: boolean },
): Promise<void> {
  const context = await openContext(terminal, { subject: 'private data' });
  const { privateStore: store, clock, place } = context;
  await eraseExisting({ store, clock }, id);
  if (options.json) printJson(terminal, { id, state: 'erased' });
  else
    print(
      terminal,
      `${id} in ${place.text} is erased. A mail that was sent already is not recalled.`,
    );
}

function listedJsonOf(message: ShownMessage): object {
  const { id, acceptedAt, state, name, email, subject, attempts, nextAt } = message;
  return {
    id,
    accepted_at: acceptedAt,
    state,
    name,
    email,
    subject,
    attempt_count: attempts.length,
    detail: attempts.at(-1)?.outcome?.detail ?? null,
    next_at: nextAt ?? null,
  };
}

function attemptJsonOf({ number, at, outcome }: ShownMessage['attempts'][number]): object {
  return {
    number,
    at,
    result: outcome?.state ?? null,
    detail: outcome?.detail ?? null,
    ended_at: outcome?.at ?? null,
    next_at: outcome?.state === 'failed' ? outcome.next_at : null,
  };
}
