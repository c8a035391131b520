import { z } from 'zod';
import type { Clock } from '../../../core/clock.ts';
import { AppError, isAppError } from '../../../core/errors.ts';
import { parseJson, readBody } from '../../../core/response-body.ts';
import type { Secret } from '../../../core/secret.ts';
import { isDisplayName } from '../../../domain/display-name.ts';
import { padResponseTime } from '../pad-response-time.ts';
import type { IdentityProvider, VerifiedIdentity } from './identity-provider.ts';

/**
 * Supabase Auth (GoTrue), over its REST interface. The service uses its tokens only as proof that a password is right.
 * Clients never get those tokens.
 */

interface GotrueOptions {
  /** Without a trailing slash: `https://project.supabase.co/auth/v1`. */
  readonly url: string;
  /** The publishable key, which has only the rights of a website's visitor. */
  readonly apiKey: Secret;
  readonly timeoutMs?: number;
  readonly clock: Clock;
  /** The minimum response time for a registration and for a request for mail, in milliseconds; default 1500. */
  readonly answerAfterMs?: number;
  /** The provider calls this after every request, for the status page. */
  readonly onOutcome?: (failure: AppError | undefined) => void;
}

const TIMEOUT_MS = 5_000;
const ANSWER_AFTER_MS = 1_500;
const ANSWER_BYTES_MAX = 256 * 1024;
const RETRY_AFTER_SECONDS = 10;

const userSchema = z.object({
  id: z.string().min(1).max(128),
  email: z.string(),
  email_confirmed_at: z.string().nullish(),
  // Only GoTrue's operator can write `app_metadata`. Users can write `user_metadata` themselves.
  app_metadata: z.record(z.string(), z.unknown()).nullish(),
  user_metadata: z.record(z.string(), z.unknown()).nullish(),
});
const tokenSchema = z.object({ access_token: z.string(), user: userSchema });
const errorSchema = z.object({
  error_code: z.string().optional(),
  code: z.union([z.string(), z.number()]).optional(),
  error: z.string().optional(),
});

export function createGotrueProvider(options: GotrueOptions): IdentityProvider {
  const call = createCaller(options);
  const { clock, answerAfterMs = ANSWER_AFTER_MS } = options;
  // GoTrue sends a mail only for some addresses, and sending takes long. The service delays the answers for all other
  // addresses, so that they take as long.
  const pad = <T>(work: () => Promise<T>): Promise<T> =>
    padResponseTime(clock, answerAfterMs, work);
  return {
    name: 'gotrue',
    passwords: undefined,
    register: ({ email, password, name }) =>
      pad(async () => {
        // For a known address, GoTrue answers 200 with an invented user. So the service must not use the answer.
        const data = name === null ? {} : { name };
        const answer = await call('POST', '/signup', { email, password, data });
        if (answer.ok) return 'accepted';
        if (DEPENDS_ON_ADDRESS.has(answer.code)) return 'not accepted';
        throw refusal(answer);
      }),
    verifyPassword: async ({ email, password }) => {
      const answer = await call('POST', '/token?grant_type=password', { email, password });
      if (!answer.ok) {
        if (WRONG_CREDENTIALS.has(answer.code)) return undefined;
        throw refusal(answer);
      }
      const parsed = tokenSchema.safeParse(answer.json);
      if (!parsed.success)
        throw unavailable('sent a response without the expected fields', parsed.error);
      // This service does not use the provider's session. If the request that ends this session fails, the session
      // expires by itself, and `onOutcome` has reported the failure.
      call('POST', '/logout?scope=local', {}, parsed.data.access_token).catch(() => undefined);
      return identityOf(parsed.data.user);
    },
    requestMail: (kind, email) =>
      pad(async () => {
        const answer =
          kind === 'reset'
            ? await call('POST', '/recover', { email })
            : await call('POST', '/resend', { type: 'signup', email });
        // Other errors may depend on whether the address is known, so the client must not see them.
        if (isBroken(answer.status, answer.code)) throw unavailable(`answered ${answer.status}`);
      }),
    probe: async (signal) => {
      const answer = await call('GET', '/health', undefined, undefined, signal);
      if (!answer.ok) throw unavailable(`answered ${answer.status}`);
    },
  };
}

/** GoTrue sends these codes when the address has an account, or when it sent a mail to the address a moment ago. */
const DEPENDS_ON_ADDRESS = new Set([
  'user_already_exists',
  'email_exists',
  'over_email_send_rate_limit',
]);
// GoTrue reports a ban before it checks the password. If the service reported the ban to the client, the client would
// learn that the address has an account.
const WRONG_CREDENTIALS = new Set([
  'invalid_credentials',
  'invalid_grant',
  'user_not_found',
  'user_banned',
]);

interface Answer {
  readonly ok: boolean;
  readonly status: number;
  /** GoTrue's error code; empty for none. */
  readonly code: string;
  readonly json: unknown;
}

type Caller = (
  method: 'GET' | 'POST',
  path: string,
  body?: object,
  token?: string,
  signal?: AbortSignal,
) => Promise<Answer>;

function createCaller(options: GotrueOptions): Caller {
  const { url, apiKey, timeoutMs = TIMEOUT_MS, onOutcome = () => {} } = options;
  return async (method, path, body, token, signal) => {
    const timeout = AbortSignal.timeout(timeoutMs);
    try {
      const response = await fetch(`${url}${path}`, {
        method,
        redirect: 'error',
        signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
        headers: {
          apikey: apiKey.reveal(),
          accept: 'application/json',
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const answer = await readBody(response, ANSWER_BYTES_MAX);
      if (answer === undefined)
        throw unavailable(`sent a response larger than ${ANSWER_BYTES_MAX} bytes`);
      const json = parseJson(answer);
      const { ok, status } = response;
      // Reads the header first, because the shape of the body differs between versions of GoTrue.
      const code = ok ? '' : (response.headers.get('x-sb-error-code') ?? codeOf(json));
      if (ok && status !== 204 && json === undefined)
        throw unavailable('sent a response that is not JSON');
      onOutcome(isBroken(status, code) ? unavailable(`answered ${status}`) : undefined);
      return { ok, status, code, json };
    } catch (error) {
      const failure = isAppError(error) ? error : unavailable('did not answer', error);
      onOutcome(failure);
      throw failure;
    }
  };
}

/**
 * True when the provider is down or its configuration is wrong. For a wrong API key or URL, the gateway in front of
 * GoTrue answers, and its answer has no error code of GoTrue.
 */
function isBroken(status: number, code: string): boolean {
  return status >= 500 || ([401, 403, 404].includes(status) && code === '');
}

function codeOf(json: unknown): string {
  const parsed = errorSchema.safeParse(json);
  if (!parsed.success) return '';
  const { error_code: errorCode, code, error } = parsed.data;
  return errorCode ?? (typeof code === 'string' ? code : undefined) ?? error ?? '';
}

function identityOf(user: z.output<typeof userSchema>): VerifiedIdentity {
  const { name } = user.user_metadata ?? {};
  const { tier } = user.app_metadata ?? {};
  return {
    subject: user.id,
    email: user.email,
    // The service does not use `confirmed_at`, because GoTrue also sets it when the user confirms only a telephone
    // number.
    emailVerified: (user.email_confirmed_at ?? null) !== null,
    // Users write the name themselves, so the name must meet the rules of this service.
    name: typeof name === 'string' && isValidName(name) ? name : null,
    tier: typeof tier === 'string' ? tier : null,
  };
}

function isValidName(name: string): boolean {
  return name.trim() !== '' && name.length <= 100 && isDisplayName(name);
}

function refusal({ status, code }: Answer): AppError {
  if (code === 'weak_password') {
    const detail = 'This password is too easy to guess. Choose another.';
    return new AppError('weak_password', detail, { issues: [{ pointer: '/password', detail }] });
  }
  if (code === 'email_not_confirmed') {
    return new AppError(
      'email_not_verified',
      'Your mail address is not verified. Follow the link in the mail that you got, then sign in.',
    );
  }
  if (code === 'signup_disabled' || code === 'email_provider_disabled') {
    return new AppError('not_configured', 'Registration is closed on this service.');
  }
  if (status === 429) {
    return new AppError('too_many_requests', 'Too many requests. Try again in a minute.', {
      retryAfterSeconds: 60,
    });
  }
  if (status === 422 || code === 'validation_failed' || code === 'email_address_invalid') {
    return new AppError(
      'invalid_request',
      'The identity provider does not accept this mail address or password. Choose another.',
    );
  }
  return unavailable(`answered ${status} ${code}`);
}

function unavailable(what: string, cause?: unknown): AppError {
  return new AppError(
    'identity_provider_unavailable',
    'The identity provider is not available. Try again shortly.',
    {
      cause: cause ?? new Error(`The identity provider ${what}.`),
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    },
  );
}
