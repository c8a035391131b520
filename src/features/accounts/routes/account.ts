import { z } from 'zod';
import type { TierTable } from '../../../domain/tier.ts';
import { SIGNED_IN } from '../../../server/access/error-codes.ts';
import type { App } from '../../../server/deps.ts';
import { errorResponses } from '../../../server/http/error-responses.ts';
import { readAccount } from '../accounts/account.ts';
import type { Account } from '../accounts/account-document.ts';
import { setName } from '../accounts/change-account.ts';
import { eraseOwnAccount } from '../erase-account.ts';
import { notSignedIn } from '../identity-errors.ts';
import { signedOutWhenErased } from './account-error.ts';
import type { AccountsDeps } from './accounts-deps.ts';
import { asOwner, openIdentity, requirePrincipal } from './authenticate.ts';
import { signalOfClient } from './client-signal.ts';
import { SIGNED_IN_CHANGE } from './error-codes.ts';
import { nameSchema, passwordSchema } from './request-field.ts';
import { clearSessionCookie } from './session-cookie.ts';

const PATH = '/api/v1/account';

const answerSchema = z.strictObject({
  id: z.string(),
  email: z.string(),
  email_verified: z.boolean(),
  name: z.string().nullable(),
  tier: z.string(),
  registered_at: z.string(),
});

const readSchema = {
  operationId: 'getAccount',
  summary: 'Read your account',
  tags: ['account'],
  response: { 200: answerSchema, ...errorResponses(...SIGNED_IN, 'document_newer') },
};

const changeSchema = {
  operationId: 'changeAccount',
  summary: 'Change your name',
  tags: ['account'],
  body: z.object({ name: nameSchema.nullable() }),
  response: { 200: answerSchema, ...errorResponses(...SIGNED_IN_CHANGE, 'invalid_request') },
};

const eraseSchema = {
  operationId: 'deleteAccount',
  summary: 'Delete your account',
  description:
    'Requires the password. Ends every session and deletes the account, its sessions and its developer keys permanently. The mail address can register again after two hours. Data at an external identity provider is not deleted, nor are messages sent with the contact form.',
  tags: ['account'],
  body: z.object({ password: passwordSchema }),
  response: {
    204: z.null(),
    ...errorResponses(
      ...SIGNED_IN_CHANGE,
      'invalid_request',
      'invalid_credentials',
      'email_not_verified',
      'identity_provider_unavailable',
      'overloaded',
    ),
  },
};

export function registerAccount(app: App, deps: AccountsDeps): void {
  app.get(PATH, { schema: readSchema }, async (request) => {
    const { account: id } = await requirePrincipal(deps, request);
    const account = await readAccount(openIdentity(deps).store, id);
    // An access token stays valid for some minutes after its account was erased.
    if (account === undefined) throw notSignedIn();
    return answerOf(account, deps.tiers);
  });

  app.patch(PATH, { schema: changeSchema }, async (request) => {
    const principal = await requirePrincipal(deps, request);
    const owner = asOwner(openIdentity(deps), principal);
    const { name } = request.body;
    const account = await setName(owner, principal.account, name).catch(signedOutWhenErased);
    return answerOf(account, deps.tiers);
  });

  app.delete(PATH, { schema: eraseSchema }, async (request, reply) => {
    const principal = await requirePrincipal(deps, request);
    await deps.tryLimit.consume(request.ip);
    const owner = asOwner(openIdentity(deps), principal);
    const proof = { password: request.body.password, signal: signalOfClient(request, reply) };
    await eraseOwnAccount(owner, principal.account, proof).catch(signedOutWhenErased);
    clearSessionCookie(reply, deps.cookies);
    return reply.code(204).send(null);
  });
}

function answerOf(account: Account, tiers: TierTable): z.output<typeof answerSchema> {
  return {
    id: account.id,
    email: account.email,
    email_verified: account.emailVerified,
    name: account.name,
    tier: tiers.tierNamed(account.tier),
    registered_at: account.registeredAt,
  };
}
