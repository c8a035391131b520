import { z } from 'zod';
import { ACCOUNTS } from '../../../server/access/error-codes.ts';
import type { App } from '../../../server/deps.ts';
import { errorResponses } from '../../../server/http/error-responses.ts';
import { normalizeEmail } from '../accounts/account.ts';
import type { AccountsDeps } from './accounts-deps.ts';
import { openIdentity } from './authenticate.ts';
import { WITH_BODY } from './error-codes.ts';
import { EXAMPLE_EMAIL, emailSchema } from './request-field.ts';

const schema = {
  description:
    'The identity provider sends the mail. The answer is the same for every mail address, with an account or without.',
  tags: ['auth'],
  body: z.object({ email: emailSchema }).meta({ example: { email: EXAMPLE_EMAIL } }),
  response: {
    202: z.strictObject({ status: z.literal('accepted') }),
    ...errorResponses(
      ...ACCOUNTS,
      ...WITH_BODY,
      'invalid_request',
      'identity_provider_unavailable',
    ),
  },
};

const ROUTES = [
  {
    path: 'resend-verification',
    kind: 'verification',
    operationId: 'resendVerification',
    summary: 'Send the verification mail again',
  },
  {
    path: 'request-reset',
    kind: 'reset',
    operationId: 'requestPasswordReset',
    summary: 'Send a mail to choose a new password',
  },
] as const;

export function registerMailRequests(app: App, deps: AccountsDeps): void {
  for (const { path, kind, ...named } of ROUTES) {
    app.post(
      `/api/v1/auth/${path}`,
      { schema: { ...schema, ...named } },
      async (request, reply) => {
        const { provider } = openIdentity(deps);
        await deps.tryLimit.consume(request.ip);
        await provider.requestMail(kind, normalizeEmail(request.body.email));
        return reply.code(202).send({ status: 'accepted' });
      },
    );
  }
}
