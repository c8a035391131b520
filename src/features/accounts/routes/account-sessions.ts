import { z } from 'zod';
import { SIGNED_IN } from '../../../server/access/error-codes.ts';
import type { App } from '../../../server/deps.ts';
import { errorResponses } from '../../../server/http/error-responses.ts';
import { word } from '../../../server/http/validation.ts';
import { endOneSession, signOutEverywhere } from '../sessions/end-session.ts';
import { listSessions } from '../sessions/list-sessions.ts';
import { CLIENT_PLATFORMS } from '../sessions/session-document.ts';
import { signedOutWhenErased } from './account-error.ts';
import type { AccountsDeps } from './accounts-deps.ts';
import { asOwner, openIdentity, requirePrincipal } from './authenticate.ts';
import { SIGNED_IN_CHANGE } from './error-codes.ts';
import { clearSessionCookie } from './session-cookie.ts';

const PATH = '/api/v1/account/sessions';

const sessionSchema = z.strictObject({
  id: z.string(),
  current: z.boolean().describe('Whether this request belongs to this session.'),
  platform: z.enum(CLIENT_PLATFORMS),
  device_name: z.string(),
  os_version: z.string().nullable(),
  app_version: z.string().nullable(),
  started_at: z.string(),
  refreshed_at: z.string(),
  expires_at: z.string(),
});

const listSchema = {
  operationId: 'listSessions',
  summary: 'List your sessions',
  tags: ['account'],
  response: {
    200: z.strictObject({ sessions: z.array(sessionSchema) }),
    ...errorResponses(...SIGNED_IN, 'document_newer'),
  },
};

const endOneSchema = {
  operationId: 'endSession',
  summary: 'End one of your sessions',
  tags: ['account'],
  params: z.object({ session: word }),
  response: {
    204: z.null(),
    ...errorResponses(...SIGNED_IN_CHANGE, 'invalid_request', 'unknown_session'),
  },
};

const endAllSchema = {
  operationId: 'endAllSessions',
  summary: 'End all your sessions, this one included',
  tags: ['account'],
  response: { 204: z.null(), ...errorResponses(...SIGNED_IN_CHANGE) },
};

export function registerAccountSessions(app: App, deps: AccountsDeps): void {
  app.get(PATH, { schema: listSchema }, async (request) => {
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

  app.delete(`${PATH}/:session`, { schema: endOneSchema }, async (request, reply) => {
    const principal = await requirePrincipal(deps, request);
    const owner = asOwner(openIdentity(deps), principal);
    const { session } = request.params;
    await endOneSession(owner, principal.account, session).catch(signedOutWhenErased);
    return reply.code(204).send(null);
  });

  app.delete(PATH, { schema: endAllSchema }, async (request, reply) => {
    const principal = await requirePrincipal(deps, request);
    const { account, session } = principal;
    const owner = asOwner(openIdentity(deps), principal, { isSigningOut: true });
    await signOutEverywhere(owner, account, session).catch(signedOutWhenErased);
    clearSessionCookie(reply, deps.cookies);
    return reply.code(204).send(null);
  });
}
