import { z } from 'zod';
import { isAppError } from '../../errors.ts';
import { sessionEnded } from '../../identity/identity-errors.ts';
import type { App } from '../deps.ts';
import { problems } from '../server/validation.ts';
import { WRITING } from './account.ts';
import type { AccountsDeps } from './accounts-deps.ts';
import { openIdentity } from './authenticate.ts';
import {
  clearSessionCookie,
  deviceIdSchema,
  EXAMPLE_DEVICE,
  FORGERY_HEADER,
  platformSchema,
  requireOwnScript,
  SESSION_COOKIE,
  sendSession,
  sessionAnswerSchema,
} from './session-answer.ts';

/** The token is what log-in answered. */
const EXAMPLE = { refresh_token: '…', platform: 'linux', device: { id: EXAMPLE_DEVICE } };

const schema = {
  summary: 'Carry a session on',
  description: `Answers with the next refresh token; the one sent is answered again for a minute, and after that its use ends the session. A web client in cookie mode sends its cookie and the header ${FORGERY_HEADER}.`,
  tags: ['auth'],
  body: z
    .object({
      refresh_token: z.string().max(1024).optional(),
      platform: platformSchema,
      device: z.object({ id: deviceIdSchema }),
    })
    .meta({ example: EXAMPLE }),
  response: {
    200: sessionAnswerSchema,
    ...problems({
      400: 'invalid_request, malformed_json',
      401: 'session_ended',
      403: 'request_forgery',
      413: 'body_too_large',
      415: 'unsupported_media_type',
      429: 'too_many_requests',
      501: 'not_configured',
      503: `${WRITING}, document_newer`,
    }),
  },
};

export function registerRefresh(app: App, deps: AccountsDeps): void {
  app.post('/api/v1/auth/refresh', { schema }, async (request, reply) => {
    const { sessions } = openIdentity(deps);
    await deps.requestLimit.consume(request.ip);
    const { refresh_token: inBody, platform, device } = request.body;
    const usesCookie = deps.cookies.enabled && platform === 'web';
    if (usesCookie) requireOwnScript(request, deps.cookies);
    const token = usesCookie ? request.cookies[SESSION_COOKIE] : inBody;
    try {
      if (token === undefined || token === '') throw sessionEnded();
      const session = await sessions.refresh({ token, platform, deviceId: device.id });
      return await sendSession(deps, reply as never, session, platform);
    } catch (error) {
      // Only what is over: a store that does not answer says nothing about the session.
      if (usesCookie && isAppError(error, 'session_ended')) {
        clearSessionCookie(reply as never, deps.cookies);
      }
      throw error;
    }
  });
}
