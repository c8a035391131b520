import { z } from 'zod';
import type { ObjectStore } from '../object-store/object-store.ts';
import { endKey } from '../sequence/end.ts';
import { SCHEMA_VERSION } from '../sequence/envelope.ts';
import { defineSequence } from '../sequence/sealed.ts';
import { readDocument } from '../sequence/sequence.ts';
import { attemptKey, messageKey, messagePrefix, outcomeKey, redeliveryKey } from './keys.ts';

/** What is stored of a message from the contact form and of its deliveries. */

export const NAME_LENGTH_MAX = 100;
export const EMAIL_LENGTH_MAX = 254;
export const SUBJECT_LENGTH_MAX = 150;
export const MESSAGE_LENGTH_MAX = 5_000;
export const DETAIL_LENGTH_MAX = 300;
const DOCUMENT_BYTES_MAX = 64 * 1024;

/** One message as somebody wrote it. */
export interface Message {
  readonly id: string;
  /** ISO 8601. */
  readonly acceptedAt: string;
  readonly name: string;
  readonly email: string;
  readonly subject: string;
  readonly message: string;
}

const isoTime = z.iso.datetime();
const common = {
  schema_version: z.literal(SCHEMA_VERSION),
  id: z.string(),
  change_id: z.string().min(1).max(64),
};

export const messageSchema = z.object({
  ...common,
  type: z.literal('contact_message'),
  accepted_at: isoTime,
  name: z.string().min(1).max(NAME_LENGTH_MAX),
  // Goes into a mail's header: read back as strictly as it was taken in.
  email: z.email().max(EMAIL_LENGTH_MAX),
  subject: z.string().min(1).max(SUBJECT_LENGTH_MAX),
  message: z.string().min(1).max(MESSAGE_LENGTH_MAX),
});

export const attemptSchema = z.object({
  ...common,
  type: z.literal('contact_attempt'),
  number: z.int().positive(),
  at: isoTime,
});

export const RESULTS = ['delivered', 'failed', 'dead'] as const;

export const outcomeSchema = z.object({
  ...common,
  type: z.literal('contact_outcome'),
  number: z.int().positive(),
  at: isoTime,
  /** `dead`: given up. */
  result: z.enum(RESULTS),
  detail: z.string().max(DETAIL_LENGTH_MAX),
  next_at: isoTime.nullable(),
});

export const redeliverySchema = z.object({
  ...common,
  type: z.literal('contact_redelivery'),
  number: z.int().positive(),
  at: isoTime,
  by: z.string().max(200),
  /** Attempts up to this one were over when it was asked for. */
  after: z.int().nonnegative(),
});

export type MessageDocument = z.output<typeof messageSchema>;
export type AttemptDocument = z.output<typeof attemptSchema>;
export type OutcomeDocument = z.output<typeof outcomeSchema>;
export type RedeliveryDocument = z.output<typeof redeliverySchema>;

/** The one document of the message itself: number 1. */
export function messageDocument(id: string) {
  return defineSequence({
    name: `message ${id}`,
    schema: messageSchema,
    documentBytesMax: DOCUMENT_BYTES_MAX,
    key: () => messageKey(id),
    expected: () => ({ type: 'contact_message', id }),
  });
}

/** Whoever creates attempt n may send the message. */
export function attemptSequence(id: string) {
  return defineSequence({
    name: `list of attempts to deliver ${id}`,
    schema: attemptSchema,
    documentBytesMax: DOCUMENT_BYTES_MAX,
    endKey: endKey(messagePrefix(id)),
    key: (number) => attemptKey(id, number),
    expected: (number) => ({ type: 'contact_attempt', id, number }),
  });
}

/** Outcome n is written by whoever created attempt n, and may be missing between others. */
export function outcomeSequence(id: string) {
  return defineSequence({
    name: `list of outcomes of ${id}`,
    schema: outcomeSchema,
    documentBytesMax: DOCUMENT_BYTES_MAX,
    key: (number) => outcomeKey(id, number),
    expected: (number) => ({ type: 'contact_outcome', id, number }),
  });
}

export function redeliverySequence(id: string) {
  return defineSequence({
    name: `list of redeliveries of ${id}`,
    schema: redeliverySchema,
    documentBytesMax: DOCUMENT_BYTES_MAX,
    endKey: endKey(messagePrefix(id)),
    key: (number) => redeliveryKey(id, number),
    expected: (number) => ({ type: 'contact_redelivery', id, number }),
  });
}

/**
 * The message; undefined when there is none. Does not look whether it has ended.
 *
 * @throws AppError `document_corrupt`, `document_newer`, and the store's
 */
export async function readMessage(store: ObjectStore, id: string): Promise<Message | undefined> {
  const document = await readDocument(store, messageDocument(id), 1);
  if (document === undefined) return undefined;
  const { accepted_at: acceptedAt, name, email, subject, message } = document.signed;
  return { id, acceptedAt, name, email, subject, message };
}
