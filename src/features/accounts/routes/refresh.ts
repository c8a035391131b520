import { z } from 'zod';
import { isAppError } from '../../../core/errors.ts';
import { ACCOUNTS } from '../../../server/access/error-codes.ts';
import type { App } from '../../../server/deps.ts';
import { errorResponses } from '../../../server/http/error-responses.ts';
import { FORGERY_HEADER } from '../../../server/http/forgery-header.ts';
import { sessionEnded } from '../identity-errors.ts';
import type { AccountsDeps } from './accounts-deps.ts';
import { openIdentity } from './authenticate.ts';
import { WITH_BODY, WRITING } from './error-codes.ts';
import { deviceIdSchema, EXAMPLE_DEVICE, platformSchema } from './request-field.ts';
import { sessionAnswer, sessionAnswerSchema } from './session-answer.ts';
import {
  clearSessionCookie,
  requireOwnScript,
  sessionCookieOf,
  usesCookie,
} from './session-cookie.ts';

/** To send this example, a client first replaces `…` by the refresh token from the answer of sign-in. */
const EXAMPLE = { refresh_token: '…', platform: 'linux', device: { id: EXAMPLE_DEVICE } };

const schema = {
  operationId: 'refreshSession',
  summary: 'Refresh a session',
  description: `Answers with the next refresh token. A client that did not get the answer can repeat the request for one minute and gets the same token; later use of a replaced token ends the session. A web client in cookie mode sends its cookie and the header ${FORGERY_HEADER}.`,
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
    ...errorResponses(
      ...ACCOUNTS,
      ...WITH_BODY,
      ...WRITING,
      'invalid_request',
      'session_ended',
      'request_forgery',
    ),
  },
};

export function registerRefresh(app: App, deps: AccountsDeps): void {
  const { cookies } = deps;
  app.post('/api/v1/auth/refresh', { schema }, async (request, reply) => {
    const { sessions } = openIdentity(deps);
    await deps.requestLimit.consume(request.ip);
    const { refresh_token: inBody, platform, device } = request.body;
    const isInCookie = usesCookie(cookies, platform);
    if (isInCookie) requireOwnScript(request, cookies);
    const token = isInCookie ? sessionCookieOf(request, cookies) : inBody;
    try {
      if (token === undefined || token === '') throw sessionEnded();
      const session = await sessions.refresh({ token, platform, deviceId: device.id });
      return await sessionAnswer(deps, reply, session, platform);
    } catch (error) {
      // Clears the cookie only for this error. When the store does not answer, the state of the session is unknown.
      if (isInCookie && isAppError(error, 'session_ended')) clearSessionCookie(reply, cookies);
      throw error;
    }
  });
}
