import { z } from 'zod';
import { normalizeEmail } from '../../identity/accounts/account.ts';
import type { App } from '../deps.ts';
import { problems } from '../server/validation.ts';
import type { AccountsDeps } from './accounts-deps.ts';
import { openIdentity } from './authenticate.ts';
import { EXAMPLE_EMAIL, emailSchema } from './session-answer.ts';

const common = {
  description: 'Has the identity provider send a mail, and answers alike for every address.',
  tags: ['auth'],
  body: z.object({ email: emailSchema }).meta({ example: { email: EXAMPLE_EMAIL } }),
  response: {
    202: z.strictObject({ status: z.literal('accepted') }),
    ...problems({
      400: 'invalid_request, malformed_json',
      413: 'body_too_large',
      415: 'unsupported_media_type',
      429: 'too_many_requests',
      501: 'not_configured',
      503: 'identity_provider_unavailable',
    }),
  },
};

const ROUTES = [
  {
    path: 'resend-verification',
    kind: 'verification',
    summary: 'Send the verification mail again',
  },
  { path: 'request-reset', kind: 'reset', summary: 'Send a mail to choose a new password' },
] as const;

export function registerMailRequests(app: App, deps: AccountsDeps): void {
  for (const { path, kind, summary } of ROUTES) {
    app.post(`/api/v1/auth/${path}`, { schema: { ...common, summary } }, async (request, reply) => {
      const { provider } = openIdentity(deps);
      await deps.tryLimit.consume(request.ip);
      await provider.requestMail(kind, normalizeEmail(request.body.email));
      return reply.code(202).send({ status: 'accepted' as const });
    });
  }
}
