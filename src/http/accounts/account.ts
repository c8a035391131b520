import { z } from 'zod';
import { AppError, isAppError } from '../../errors.ts';
import { readAccount } from '../../identity/accounts/account.ts';
import type { Account } from '../../identity/accounts/account-document.ts';
import { setName } from '../../identity/accounts/change-account.ts';
import { eraseOwnAccount } from '../../identity/erase-account.ts';
import { notSignedIn } from '../../identity/identity-errors.ts';
import type { App } from '../deps.ts';
import { problems } from '../server/validation.ts';
import type { AccountsDeps } from './accounts-deps.ts';
import { asOwner, openIdentity, requirePrincipal } from './authenticate.ts';
import { clearSessionCookie, lineSchema, passwordSchema } from './session-answer.ts';

const answerSchema = z.strictObject({
  id: z.string(),
  email: z.string(),
  email_verified: z.boolean(),
  name: z.string().nullable(),
  tier: z.string(),
  registered_at: z.string(),
});

/** What every route can answer that reads from the store, and every one that writes to it. */
export const READING = 'store_unavailable, store_denied';
export const WRITING = `${READING}, store_full, store_nonconforming` as const;

/** What every signed-in route can answer beside its own. */
export const SIGNED_IN_PROBLEMS = {
  401: 'not_signed_in',
  429: 'too_many_requests',
  501: 'not_configured',
  503: READING,
} as const;
/** Of a route that is sent a body, whether or not it wants one. */
export const BODY_PROBLEMS = {
  413: 'body_too_large',
  415: 'unsupported_media_type',
} as const;
/** Of a route that changes something and wants no body. */
export const CHANGE_PROBLEMS = {
  400: 'malformed_json',
  ...SIGNED_IN_PROBLEMS,
  ...BODY_PROBLEMS,
  503: `${WRITING}, document_newer`,
} as const;

const PATH = '/api/v1/account';

export function registerAccount(app: App, deps: AccountsDeps): void {
  const answerOf = (account: Account): z.output<typeof answerSchema> => ({
    id: account.id,
    email: account.email,
    email_verified: account.emailVerified,
    name: account.name,
    tier: deps.tiers.tierNamed(account.tier),
    registered_at: account.registeredAt,
  });

  const read = {
    summary: 'Your account',
    tags: ['account'],
    response: {
      200: answerSchema,
      ...problems({ ...SIGNED_IN_PROBLEMS, 503: `${READING}, document_newer` }),
    },
  };
  app.get(PATH, { schema: read }, async (request) => {
    const { account: id } = await requirePrincipal(deps, request);
    const account = await readAccount(openIdentity(deps).store, id);
    // Erased while its last access token is still good.
    if (account === undefined) throw notSignedIn();
    return answerOf(account);
  });

  const change = {
    summary: 'Change your name',
    tags: ['account'],
    body: z.object({ name: lineSchema(100).nullable() }),
    response: {
      200: answerSchema,
      ...problems({
        400: 'invalid_request, malformed_json',
        ...SIGNED_IN_PROBLEMS,
        ...BODY_PROBLEMS,
        503: `${WRITING}, document_newer`,
      }),
    },
  };
  app.patch(PATH, { schema: change }, async (request) => {
    const principal = await requirePrincipal(deps, request);
    const owner = asOwner(openIdentity(deps), principal);
    const account = await setName(owner, principal.account, request.body.name).catch(
      signedOutWhenGone,
    );
    return answerOf(account);
  });

  const erase = {
    summary: 'Delete everything of yours',
    description:
      'Asks for the password again. Ends every session and deletes the account, its sessions and developer keys, for good. Its address can register again two hours later. What an identity provider outside keeps stays there, and so do messages sent with the contact form.',
    tags: ['account'],
    body: z.object({ password: passwordSchema }),
    response: {
      204: z.null(),
      ...problems({
        ...CHANGE_PROBLEMS,
        400: 'invalid_request, malformed_json',
        401: 'not_signed_in, invalid_credentials',
        403: 'email_not_verified',
        503: `identity_provider_unavailable, overloaded, ${WRITING}, document_newer`,
      }),
    },
  };
  app.delete(PATH, { schema: erase }, async (request, reply) => {
    const principal = await requirePrincipal(deps, request);
    await deps.tryLimit.consume(request.ip);
    const owner = asOwner(openIdentity(deps), principal);
    await eraseOwnAccount(owner, principal.account, request.body.password).catch(signedOutWhenGone);
    clearSessionCookie(reply as never, deps.cookies);
    return reply.code(204).send(null);
  });
}

export function signedOutWhenGone(error: unknown): never {
  if (isGone(error)) throw notSignedIn(error);
  return tryAgainWhenUnknown(error);
}

/** Whether an account was erased. */
export function isGone(error: unknown): boolean {
  return isAppError(error, 'unknown_account') || isAppError(error, 'ended');
}

/** A person reads "try again" where a script reads "unknown". */
export function tryAgainWhenUnknown(error: unknown): never {
  if (!isAppError(error, 'outcome_unknown')) throw error;
  throw new AppError('store_unavailable', error.message, { cause: error });
}
