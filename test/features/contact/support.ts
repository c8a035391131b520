import type { Clock, Randomness } from '../../../src/core/clock.ts';
import type { DeliverDeps } from '../../../src/features/contact/deliver-message.ts';
import { createDelivery, type Delivery } from '../../../src/features/contact/delivery.ts';
import { listMessages } from '../../../src/features/contact/inspect.ts';
import {
  createIntake,
  type Intake,
  type Submission,
} from '../../../src/features/contact/intake.ts';
import { createMailer, type Mailer } from '../../../src/features/contact/mail.ts';
import { createMemoryStore } from '../../../src/store/memory.ts';
import type { ObjectStore } from '../../../src/store/object-store.ts';
import { createFixedClock, createSeededRandomness } from '../../support/clock.ts';
import type { MailServer } from './mail-server.ts';

/** Shared by the tests of contact messages. */

export const FROM = 'noreply@example.com';
export const TO = 'team@example.com';
export const silent = { info: () => {}, warn: () => {}, error: () => {} };

export const submission = (over: Partial<Submission> = {}): Submission => ({
  name: 'Ada Lovelace',
  email: 'ada@example.org',
  subject: 'The engine',
  message: 'It weaves algebraic patterns.',
  captchaToken: undefined,
  remoteAddress: '192.0.2.7',
  idempotencyKey: undefined,
  honeypot: '',
  ...over,
});

export const mailerOf = (server: MailServer, timeoutMs = 2_000): Mailer =>
  createMailer({ smtpUrl: server.url, from: FROM, to: TO, timeoutMs });

interface Parts {
  readonly store: ObjectStore;
  readonly clock: Clock;
  readonly randomness?: Randomness;
}

/** Every process gets another seed. */
let seeds = 100;

/** An intake without a captcha. */
export const intakeOf = (parts: Parts, onAccepted?: (id: string) => void): Intake =>
  createIntake({
    randomness: createSeededRandomness(seeds++),
    captcha: { verify: async () => {} },
    ...parts,
    ...(onAccepted === undefined ? {} : { onAccepted }),
  });

/** The worker of one process. */
export const deliveryOf = (
  parts: Parts,
  mailer: Mailer,
  more: Partial<DeliverDeps> = {},
): Delivery =>
  createDelivery({
    randomness: createSeededRandomness(seeds++),
    log: silent,
    mailer,
    ...parts,
    ...more,
  });

/** Accepts `count` messages; returns their ids. */
export async function accept(parts: Parts, count: number): Promise<string[]> {
  const intake = intakeOf(parts);
  const ids: string[] = [];
  for (let number = 1; number <= count; number++) {
    ids.push((await intake.submit(submission({ subject: `Message ${number}` }))).id);
  }
  return ids;
}

export async function keysOf(store: ObjectStore, prefix = ''): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key } of store.list(prefix)) keys.push(key);
  return keys;
}

/** A mailer without a network. It records what it is asked to send, and the test chooses the result. */
export function createFakeMailer(
  answer: (count: number) => 'sent' | 'failed' | Promise<'sent' | 'failed'> = () => 'sent',
): Mailer & { readonly sent: string[]; readonly tried: string[] } {
  const sent: string[] = [];
  const tried: string[] = [];
  return {
    sent,
    tried,
    verify: async () => {},
    send: async ({ id }) => {
      tried.push(id);
      const outcome = await answer(tried.length);
      if (outcome === 'failed') return { outcome, detail: '450 later', isReachable: true };
      sent.push(id);
      return { outcome, detail: '250 taken' };
    },
  };
}

/** A store in memory and a clock that the test moves. */
export const setUp = () => {
  const clock = createFixedClock();
  const store = createMemoryStore({ clock });
  return { clock, store, parts: { store, clock } };
};

/** The state of every message, newest first. */
export const statesOf = async (store: ObjectStore) => {
  const messages = await listMessages(store, { state: undefined, limit: 10_000, hasMail: true });
  return messages.map(({ state }) => state);
};
