import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { ACCOUNTS } from '../../../server/access/error-codes.ts';
import type { App } from '../../../server/deps.ts';
import { errorResponses } from '../../../server/http/error-responses.ts';
import type { Identity } from '../identity.ts';
import { signIn } from '../sign-in.ts';
import { tryAgainWhenUnknown } from './account-error.ts';
import type { AccountsDeps } from './accounts-deps.ts';
import { openIdentity } from './authenticate.ts';
import { signalOfClient } from './client-signal.ts';
import { WITH_BODY, WRITING } from './error-codes.ts';
import {
  deviceIdSchema,
  EXAMPLE_DEVICE,
  EXAMPLE_EMAIL,
  EXAMPLE_PASSWORD,
  emailSchema,
  nameSchema,
  passwordSchema,
  platformSchema,
} from './request-field.ts';
import { sessionAnswer, sessionAnswerSchema } from './session-answer.ts';
import { requireOwnOrigin, sessionCookieOf, usesCookie } from './session-cookie.ts';

const EXAMPLE = {
  email: EXAMPLE_EMAIL,
  password: EXAMPLE_PASSWORD,
  platform: 'linux',
  device: { id: EXAMPLE_DEVICE, name: "Ada's laptop" },
};

const schema = {
  operationId: 'signIn',
  summary: 'Sign in',
  tags: ['auth'],
  body: z
    .object({
      email: emailSchema,
      password: passwordSchema,
      platform: platformSchema,
      device: z.object({
        id: deviceIdSchema,
        name: nameSchema.describe('A name that the user recognizes, such as "Ada\'s laptop".'),
        os_version: nameSchema.optional(),
        app_version: nameSchema.optional(),
      }),
    })
    .meta({ example: EXAMPLE }),
  response: {
    200: sessionAnswerSchema,
    ...errorResponses(
      ...ACCOUNTS,
      ...WITH_BODY,
      ...WRITING,
      'invalid_request',
      'invalid_credentials',
      'session_ended',
      'account_locked',
      'email_not_verified',
      'request_forgery',
      'identity_provider_unavailable',
      'overloaded',
    ),
  },
};

export function registerLogin(app: App, deps: AccountsDeps): void {
  app.post('/api/v1/auth/login', { schema }, async (request, reply) => {
    const identity = openIdentity(deps);
    const { email, password, platform, device } = request.body;
    const isInCookie = usesCookie(deps.cookies, platform);
    // Without this check, a page of another site could sign a visitor in to an attacker's account.
    if (isInCookie) requireOwnOrigin(request, deps.cookies);
    await deps.tryLimit.consume(request.ip);
    const session = await signIn(identity, {
      email,
      password,
      signal: signalOfClient(request, reply),
      platform,
      device: {
        id: device.id,
        name: device.name,
        osVersion: device.os_version ?? null,
        appVersion: device.app_version ?? null,
      },
    }).catch(tryAgainWhenUnknown);
    if (isInCookie) await endReplacedSession(deps, identity, request);
    return sessionAnswer(deps, reply, session, platform);
  });
}

/**
 * Ends the session of the cookie that sign-in replaces, because no client could end that session afterwards. The
 * promise never rejects.
 */
async function endReplacedSession(
  { cookies }: AccountsDeps,
  { sessions }: Identity,
  request: Pick<FastifyRequest, 'cookies' | 'id' | 'log'>,
): Promise<void> {
  const replaced = sessions.claimsOf(sessionCookieOf(request, cookies) ?? '');
  if (replaced === undefined) return;
  await sessions.end(replaced.account, replaced.session, 'signed_out').catch((error: unknown) => {
    request.log.warn(
      { request_id: request.id, err: error },
      'the session of the replaced cookie could not be ended',
    );
  });
}
