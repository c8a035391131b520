import { z } from 'zod';
import { endOneSession, signOutEverywhere } from '../../identity/sessions/end-session.ts';
import { listSessions } from '../../identity/sessions/list-sessions.ts';
import { CLIENT_PLATFORMS } from '../../identity/sessions/session-document.ts';
import type { App } from '../deps.ts';
import { problems, word } from '../server/validation.ts';
import {
  CHANGE_PROBLEMS,
  READING,
  SIGNED_IN_PROBLEMS,
  signedOutWhenGone,
  WRITING,
} from './account.ts';
import type { AccountsDeps } from './accounts-deps.ts';
import { asOwner, openIdentity, requirePrincipal } from './authenticate.ts';
import { clearSessionCookie } from './session-answer.ts';

const PATH = '/api/v1/account/sessions';

const answerSchema = z.strictObject({
  sessions: z.array(
    z.strictObject({
      id: z.string(),
      current: z.boolean().describe('The one that asks.'),
      platform: z.enum(CLIENT_PLATFORMS),
      device_name: z.string(),
      os_version: z.string().nullable(),
      app_version: z.string().nullable(),
      started_at: z.string(),
      refreshed_at: z.string(),
      expires_at: z.string(),
    }),
  ),
});

export function registerAccountSessions(app: App, deps: AccountsDeps): void {
  const list = {
    summary: 'Where you are signed in',
    tags: ['account'],
    response: {
      200: answerSchema,
      ...problems({
        ...SIGNED_IN_PROBLEMS,
        503: `${READING}, document_newer`,
      }),
    },
  };
  app.get(PATH, { schema: list }, async (request) => {
    const { account, session: current } = await requirePrincipal(deps, request);
    const sessions = await listSessions(openIdentity(deps), account);
    return {
      sessions: sessions.map((session) => ({
        id: session.id,
        current: session.id === current,
        platform: session.platform,
        device_name: session.deviceName,
        os_version: session.osVersion,
        app_version: session.appVersion,
        started_at: session.startedAt,
        refreshed_at: session.refreshedAt,
        expires_at: session.expiresAt,
      })),
    };
  });

  const endOne = {
    summary: 'Sign out somewhere else',
    tags: ['account'],
    params: z.object({ session: word }),
    response: {
      204: z.null(),
      ...problems({
        ...CHANGE_PROBLEMS,
        400: 'invalid_request, malformed_json',
        404: 'unknown_session',
      }),
    },
  };
  app.delete(`${PATH}/:session`, { schema: endOne }, async (request, reply) => {
    const principal = await requirePrincipal(deps, request);
    const owner = asOwner(openIdentity(deps), principal);
    await endOneSession(owner, principal.account, request.params.session).catch(signedOutWhenGone);
    return reply.code(204).send(null);
  });

  const endAll = {
    summary: 'Sign out everywhere, here included',
    tags: ['account'],
    response: {
      204: z.null(),
      ...problems({ ...CHANGE_PROBLEMS, 503: `${WRITING}, document_newer` }),
    },
  };
  app.delete(PATH, { schema: endAll }, async (request, reply) => {
    const principal = await requirePrincipal(deps, request);
    const owner = asOwner(openIdentity(deps), principal, { isSigningOut: true });
    await signOutEverywhere(owner, principal.account, principal.session).catch(signedOutWhenGone);
    clearSessionCookie(reply as never, deps.cookies);
    return reply.code(204).send(null);
  });
}
