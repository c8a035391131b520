import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Identity } from '../../identity/identity.ts';
import type { ClientPlatform } from '../../identity/sessions/session-document.ts';
import { signIn } from '../../identity/sign-in.ts';
import type { App } from '../deps.ts';
import { problems } from '../server/validation.ts';
import { tryAgainWhenUnknown, WRITING } from './account.ts';
import type { AccountsDeps } from './accounts-deps.ts';
import { openIdentity } from './authenticate.ts';
import {
  deviceIdSchema,
  EXAMPLE_DEVICE,
  EXAMPLE_EMAIL,
  EXAMPLE_PASSWORD,
  emailSchema,
  lineSchema,
  passwordSchema,
  platformSchema,
  requireOwnOrigin,
  SESSION_COOKIE,
  sendSession,
  sessionAnswerSchema,
} from './session-answer.ts';

const EXAMPLE = {
  email: EXAMPLE_EMAIL,
  password: EXAMPLE_PASSWORD,
  platform: 'linux',
  device: { id: EXAMPLE_DEVICE, name: "Ada's laptop" },
};

const schema = {
  summary: 'Sign in',
  tags: ['auth'],
  body: z
    .object({
      email: emailSchema,
      password: passwordSchema,
      platform: platformSchema,
      device: z.object({
        id: deviceIdSchema,
        name: lineSchema(100).describe('As people know it: "Ada\'s laptop".'),
        os_version: lineSchema(100).optional(),
        app_version: lineSchema(100).optional(),
      }),
    })
    .meta({ example: EXAMPLE }),
  response: {
    200: sessionAnswerSchema,
    ...problems({
      400: 'invalid_request, malformed_json',
      401: 'invalid_credentials, session_ended',
      403: 'account_locked, email_not_verified, request_forgery',
      413: 'body_too_large',
      415: 'unsupported_media_type',
      429: 'too_many_requests',
      501: 'not_configured',
      503: `identity_provider_unavailable, overloaded, ${WRITING}, document_newer`,
    }),
  },
};

/** The session whose cookie is about to be replaced: nobody could end it any more. */
async function endReplacedSession(
  deps: AccountsDeps,
  { sessions }: Identity,
  request: FastifyRequest,
  platform: ClientPlatform,
): Promise<void> {
  if (!deps.cookies.enabled || platform !== 'web') return;
  const replaced = sessions.claimsOf(request.cookies[SESSION_COOKIE] ?? '');
  if (replaced === undefined) return;
  await sessions.end(replaced.account, replaced.session, 'signed_out').catch((error: unknown) => {
    request.log.warn({ err: error }, 'the session before could not be ended');
  });
}

export function registerLogin(app: App, deps: AccountsDeps): void {
  app.post('/api/v1/auth/login', { schema }, async (request, reply) => {
    const identity = openIdentity(deps);
    const { email, password, platform, device } = request.body;
    // Else a page elsewhere could sign a visitor in to somebody else's account.
    if (deps.cookies.enabled && platform === 'web') requireOwnOrigin(request, deps.cookies);
    await deps.tryLimit.consume(request.ip);
    const session = await signIn(identity, {
      email,
      password,
      platform,
      device: {
        id: device.id,
        name: device.name,
        osVersion: device.os_version ?? null,
        appVersion: device.app_version ?? null,
      },
    }).catch(tryAgainWhenUnknown);
    await endReplacedSession(deps, identity, request, platform);
    return sendSession(deps, reply as never, session, platform);
  });
}
