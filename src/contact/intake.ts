import { createHash } from 'node:crypto';
import type { Captcha } from '../captcha/captcha.ts';
import type { Randomness } from '../clock.ts';
import { AppError, isAppError } from '../errors.ts';
import { isPresent } from '../object-store/presence.ts';
import { type CreateDeps, createSettled } from '../sequence/create-settled.ts';
import { isEnded } from '../sequence/end.ts';
import { SCHEMA_VERSION } from '../sequence/envelope.ts';
import { seal } from '../sequence/sealed.ts';
import { type Message, type MessageDocument, messageDocument, readMessage } from './documents.ts';
import { attemptKey, messageKey, messagePrefix } from './keys.ts';
import { markPending } from './pending.ts';

/** What somebody sends: already trimmed, and within the limits of `documents.ts`. */
export interface Submission extends Pick<Message, 'name' | 'email' | 'subject' | 'message'> {
  readonly captchaToken: string | undefined;
  readonly remoteAddress: string;
  readonly idempotencyKey: string | undefined;
  /** The field that people do not see; only programs fill it in. */
  readonly honeypot: string;
}

export interface IntakeDeps extends CreateDeps {
  readonly captcha: Pick<Captcha, 'verify'>;
  /** Told once a message is stored, so that it need not wait for the next look. */
  readonly onAccepted?: (id: string) => void;
}

export interface Intake {
  /**
   * Stores a message, once: with the same key and the same content it is the same message.
   *
   * @throws AppError `captcha_refused`, `captcha_unavailable`, `not_configured`;
   *   `idempotency_key_reused`; `outcome_unknown`: send it again; the store's
   */
  submit(submission: Submission): Promise<{ readonly id: string }>;
}

const RETRY_AFTER_SECONDS = 5;

export function createIntake(deps: IntakeDeps): Intake {
  const inTurn = createTurns();
  return {
    submit: async (submission) => {
      const { idempotencyKey: key } = submission;
      const id = messageIdOf(key, deps.randomness);
      if (submission.honeypot !== '') return { id };
      if (key === undefined) {
        await deps.captcha.verify(visitorOf(submission));
        return accept(deps, id, submission);
      }
      return inTurn(id, () => submitWithKey(deps, id, submission));
    },
  };
}

async function submitWithKey(deps: IntakeDeps, id: string, submission: Submission) {
  // Before the captcha: its token works once, and the first request may have used it.
  if (await isAccepted(deps, id, submission)) return { id };
  try {
    await deps.captcha.verify(visitorOf(submission));
  } catch (error) {
    // Another process may have had the same request, and the use of the token.
    if (!isAppError(error, 'captcha_refused')) throw error;
    if (await isAccepted(deps, id, submission)) return { id };
    throw error;
  }
  return accept(deps, id, submission);
}

const visitorOf = ({ captchaToken: token, remoteAddress }: Submission) => ({
  token,
  remoteAddress,
});

/** The key never leaves this function: what is stored does not tell it. */
function messageIdOf(key: string | undefined, randomness: Randomness): string {
  if (key === undefined) return randomness.id().replaceAll('-', '');
  return createHash('sha256').update(`slipway contact\n${key}`).digest('hex').slice(0, 32);
}

/**
 * Whether this very message was stored before; then it is also made sure that it will be delivered.
 *
 * @throws AppError `idempotency_key_reused`
 */
async function isAccepted(deps: IntakeDeps, id: string, submission: Submission): Promise<boolean> {
  if (await isEnded(deps.store, messagePrefix(id))) {
    throw reused('belongs to a message that has been erased');
  }
  const stored = await readMessage(deps.store, id);
  if (stored === undefined) return false;
  if (!isSame(stored, submission)) throw reused('was used for another message');
  // Its writer may have been stopped before the marker was there.
  if (!(await isPresent(deps.store, attemptKey(id, 1)))) await mark(deps, id);
  return true;
}

function isSame(stored: Message, submission: Submission): boolean {
  return (['name', 'email', 'subject', 'message'] as const).every(
    (field) => stored[field] === submission[field],
  );
}

function reused(what: string): AppError {
  return new AppError(
    'idempotency_key_reused',
    `This Idempotency-Key ${what}. Send the message with a key of its own.`,
  );
}

/** The message first, then its marker, then the answer: whoever got one has both. */
async function accept(deps: IntakeDeps, id: string, submission: Submission) {
  const { name, email, subject, message } = submission;
  const document = seal<MessageDocument>({
    schema_version: SCHEMA_VERSION,
    type: 'contact_message',
    id,
    change_id: deps.randomness.id(),
    accepted_at: new Date(deps.clock.now()).toISOString(),
    name,
    email,
    subject,
    message,
  });
  const bytes = messageDocument(id).render(document);
  const outcome = await createSettled(deps, messageKey(id), bytes).catch(explain);
  if (outcome === 'exists') {
    const stored = await readMessage(deps.store, id);
    if (stored === undefined || !isSame(stored, submission)) {
      throw reused('was used for another message');
    }
  }
  await mark(deps, id);
  return { id };
}

async function mark(deps: IntakeDeps, id: string): Promise<void> {
  await markPending(deps, id, 0).catch(explain);
  deps.onAccepted?.(id);
}

/** In words for strangers: the store's own name its keys. */
function explain(error: unknown): never {
  if (isAppError(error, 'store_full')) {
    throw new AppError('store_full', 'There is no room for messages now. Send it again later.', {
      cause: error,
    });
  }
  if (!isAppError(error, 'outcome_unknown')) throw error;
  throw new AppError(
    'outcome_unknown',
    'It is not certain that the message was stored. Send it again; with the same Idempotency-Key it is stored once.',
    { cause: error, retryAfterSeconds: RETRY_AFTER_SECONDS },
  );
}

/** Runs what concerns one message one after the other: a double click is two requests at once. */
function createTurns() {
  const last = new Map<string, Promise<unknown>>();
  return async <T>(id: string, task: () => Promise<T>): Promise<T> => {
    const before = last.get(id);
    const turn = (async () => {
      await before?.catch(() => {});
      return task();
    })();
    last.set(id, turn);
    try {
      return await turn;
    } finally {
      if (last.get(id) === turn) last.delete(id);
    }
  };
}
