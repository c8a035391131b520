import { z } from 'zod';
import { AppError } from '../../core/errors.ts';
import type { ObjectStore } from '../../store/object-store.ts';
import { endKey } from '../../store/sequence/end.ts';
import { SCHEMA_VERSION } from '../../store/sequence/envelope.ts';
import { defineSequence, seal } from '../../store/sequence/sealed.ts';
import { readDocument } from '../../store/sequence/sequence.ts';
import { messagePrefix, transitionKey } from './keys.ts';

/**
 * The stored form of a message: one sequence, whose documents are the message's transitions.
 *
 * `accepted` has number 1 and contains the text. `sending` claims an attempt: only the process that created it may send
 * the mail. `delivered`, `failed` and `dead` are outcomes of an attempt. `requeued` is an operator's request to deliver
 * the message again. The newest transition is the state of the message.
 */

export const NAME_LENGTH_MAX = 100;
export const EMAIL_LENGTH_MAX = 254;
export const SUBJECT_LENGTH_MAX = 150;
export const MESSAGE_LENGTH_MAX = 5_000;
export const DETAIL_LENGTH_MAX = 300;
export const ACTOR_LENGTH_MAX = 200;
const DOCUMENT_BYTES_MAX = 64 * 1024;

/** A message as the visitor wrote it. */
export interface Message {
  readonly id: string;
  /** ISO 8601. */
  readonly acceptedAt: string;
  readonly name: string;
  readonly email: string;
  readonly subject: string;
  readonly message: string;
}

const common = {
  schema_version: z.literal(SCHEMA_VERSION),
  type: z.literal('contact_transition'),
  id: z.string(),
  number: z.int().positive(),
  change_id: z.string().min(1).max(64),
  at: z.iso.datetime(),
};
const outcome = {
  ...common,
  claim: z.int().positive().describe('Number of the `sending` document of this attempt.'),
  detail: z.string().max(DETAIL_LENGTH_MAX),
};

export const transitionSchema = z.discriminatedUnion('state', [
  z.object({
    ...common,
    state: z.literal('accepted'),
    name: z.string().min(1).max(NAME_LENGTH_MAX),
    // The address becomes part of a mail header, so a read checks it as strictly as the form does.
    email: z.email().max(EMAIL_LENGTH_MAX),
    subject: z.string().min(1).max(SUBJECT_LENGTH_MAX),
    message: z.string().min(1).max(MESSAGE_LENGTH_MAX),
  }),
  z.object({ ...common, state: z.literal('sending') }),
  z.object({ ...outcome, state: z.literal('delivered') }),
  z.object({
    ...outcome,
    state: z.literal('failed'),
    next_at: z.iso.datetime().describe('When the next attempt is due.'),
  }),
  z.object({ ...outcome, state: z.literal('dead') }),
  z.object({ ...common, state: z.literal('requeued'), by: z.string().max(ACTOR_LENGTH_MAX) }),
]);

export type Transition = z.output<typeof transitionSchema>;
type ContentOf<T> = T extends unknown
  ? Omit<T, 'schema_version' | 'type' | 'id' | 'number' | 'change_id'>
  : never;
/** The content of a transition, without its place in the sequence. */
export type Content = ContentOf<Transition>;
/** The outcome of an attempt. */
export type Outcome = Extract<Content, { claim: number }>;

export function messageSequence(id: string) {
  return defineSequence({
    name: `message ${id}`,
    schema: transitionSchema,
    documentBytesMax: DOCUMENT_BYTES_MAX,
    endKey: endKey(messagePrefix(id)),
    key: (number) => transitionKey(id, number),
    expected: (number) => ({ type: 'contact_transition', id, number }),
  });
}

/** A transition in the form in which the service stores it. */
export function sealTransition(
  id: string,
  { number, changeId }: { readonly number: number; readonly changeId: string },
  content: Content,
) {
  return seal<Transition>({
    schema_version: SCHEMA_VERSION,
    type: 'contact_transition',
    id,
    number,
    change_id: changeId,
    ...content,
  });
}

/** @throws AppError `document_corrupt` for any transition but `accepted` */
export function messageOf(first: Transition): Message {
  if (first.state !== 'accepted') {
    const key = transitionKey(first.id, first.number);
    throw new AppError('document_corrupt', `${key} has state ${first.state}, not accepted.`);
  }
  const { id, at: acceptedAt, name, email, subject, message } = first;
  return { id, acceptedAt, name, email, subject, message };
}

/**
 * The message; undefined when there is no such message. This function does not check whether the message was erased.
 *
 * @throws AppError `document_corrupt`, `document_newer`
 */
export async function readMessage(store: ObjectStore, id: string): Promise<Message | undefined> {
  const first = await readDocument(store, messageSequence(id), 1);
  return first && messageOf(first.signed);
}
