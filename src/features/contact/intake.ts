import { createHash } from 'node:crypto';
import type { Randomness } from '../../core/clock.ts';
import { AppError, isAppError } from '../../core/errors.ts';
import type { Captcha } from '../../server/captcha/captcha.ts';
import { type CreateDeps, createSettled } from '../../store/sequence/create-settled.ts';
import { isEnded } from '../../store/sequence/end.ts';
import { messagePrefix, transitionKey } from './keys.ts';
import { markOpen, ORPHAN_KEPT_MS } from './open-marker.ts';
import { type Message, messageSequence, readMessage, sealTransition } from './transition.ts';

/** The message that a visitor sends. The text is trimmed, and within the limits of `transition.ts`. */
export interface Submission extends Pick<Message, 'name' | 'email' | 'subject' | 'message'> {
  readonly captchaToken: string | undefined;
  readonly remoteAddress: string;
  readonly idempotencyKey: string | undefined;
  /** A form field that visitors do not see. Only spam programs fill it in. */
  readonly honeypot: string;
}

interface IntakeDeps extends CreateDeps {
  readonly captcha: Pick<Captcha, 'verify'>;
  /** The intake calls this after it has stored a message, so that the message can be delivered immediately. */
  readonly onAccepted?: (id: string) => void;
}

export interface Intake {
  /**
   * Stores a message. When a client sends the same content with the same key again, the store has the message only
   * once.
   *
   * @throws AppError `captcha_refused`, `captcha_unavailable`, `not_configured`; `idempotency_key_reused`;
   *   `outcome_unknown` when the client should send the message again
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
  // Checks this before the captcha, because a token works only once and an earlier request with this message may have
  // used it.
  if (await isAccepted(deps, id, submission)) return { id };
  try {
    await deps.captcha.verify(visitorOf(submission));
  } catch (error) {
    // Another process may have used the token for the same request.
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

/** Hashes the key, because the key may be a secret of the client, which the service must not store. */
function messageIdOf(key: string | undefined, randomness: Randomness): string {
  if (key === undefined) return randomness.id().replaceAll('-', '');
  return createHash('sha256').update(`slipway contact\n${key}`).digest('hex').slice(0, 32);
}

/**
 * True when this message with this content was stored before.
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
    `This Idempotency-Key ${what}. Send the message with another key.`,
  );
}

/**
 * Stores the open marker first and the message second, and then answers. So the service never accepts a message without
 * an open marker, which delivery needs.
 */
async function accept(deps: IntakeDeps, id: string, submission: Submission) {
  const { name, email, subject, message } = submission;
  const startedAt = deps.clock.now();
  const at = new Date(startedAt).toISOString();
  const first = { number: 1, changeId: deps.randomness.id() };
  const content = { state: 'accepted', at, name, email, subject, message } as const;
  const bytes = messageSequence(id).render(sealTransition(id, first, content));
  await markOpen(deps, id, 1).catch(explain);
  const created = await createSettled(deps, transitionKey(id, 1), bytes).catch(explain);
  if (created === 'exists') {
    const stored = await readMessage(deps.store, id);
    if (stored === undefined || !isSame(stored, submission)) {
      throw reused('was used for another message');
    }
  }
  // If this process was suspended in between, retention may have removed the marker, because its message was missing.
  if (deps.clock.now() - startedAt > ORPHAN_KEPT_MS / 2) await markOpen(deps, id, 1).catch(explain);
  deps.onAccepted?.(id);
  return { id };
}

/** Translates errors for visitors, because the messages of the store name its keys. */
function explain(error: unknown): never {
  if (isAppError(error, 'store_full')) {
    throw new AppError('store_full', 'The storage is full. Send the message again later.', {
      cause: error,
    });
  }
  if (!isAppError(error, 'outcome_unknown')) throw error;
  throw new AppError(
    'outcome_unknown',
    'The message may or may not have been stored. Send it again; with the same Idempotency-Key it is stored once.',
    { cause: error, retryAfterSeconds: RETRY_AFTER_SECONDS },
  );
}

/** Runs the requests for one message id one after another, because a double click sends two requests at once. */
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
