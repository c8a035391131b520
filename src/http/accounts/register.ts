import { z } from 'zod';
import { normalizeEmail } from '../../identity/accounts/account.ts';
import { register as registerPerson } from '../../identity/register.ts';
import type { App } from '../deps.ts';
import { problems } from '../server/validation.ts';
import { WRITING } from './account.ts';
import type { AccountsDeps } from './accounts-deps.ts';
import { openIdentity } from './authenticate.ts';
import {
  EXAMPLE_EMAIL,
  EXAMPLE_PASSWORD,
  emailSchema,
  lineSchema,
  passwordSchema,
} from './session-answer.ts';

/** As the contact form's. */
const TOKEN_LENGTH_MAX = 8_192;

const schema = {
  summary: 'Register',
  description:
    'Answers alike whether or not the address has an account already; sign in afterwards to find out. Where an invitation is needed, every one that is not good for the address is refused alike.',
  tags: ['auth'],
  body: z
    .object({
      email: emailSchema,
      password: passwordSchema.describe(
        'At least 8 characters; no common password, and not the address.',
      ),
      name: lineSchema(100).optional(),
      invitation: z
        .string()
        .max(128)
        .optional()
        .describe('The code of an invitation, where one is needed.'),
      captcha_token: z
        .string()
        .max(TOKEN_LENGTH_MAX)
        .optional()
        .describe('Where a captcha is set up.'),
    })
    .meta({ example: { email: EXAMPLE_EMAIL, password: EXAMPLE_PASSWORD } }),
  response: {
    202: z.strictObject({ status: z.literal('accepted') }),
    ...problems({
      400: 'invalid_request, malformed_json, weak_password',
      403: 'captcha_refused, registration_refused',
      413: 'body_too_large',
      415: 'unsupported_media_type',
      429: 'too_many_requests',
      501: 'not_configured',
      503: `captcha_unavailable, identity_provider_unavailable, overloaded, ${WRITING}, document_newer`,
    }),
  },
};

export function registerRegister(app: App, deps: AccountsDeps): void {
  app.post('/api/v1/auth/register', { schema }, async (request, reply) => {
    const identity = openIdentity(deps);
    await deps.tryLimit.consume(request.ip);
    const { email, password, name, invitation, captcha_token: token } = request.body;
    if (deps.captcha.required) {
      await deps.captcha.verify({ token: token ?? '', remoteAddress: request.ip });
    }
    await registerPerson(identity, {
      email: normalizeEmail(email),
      password,
      name: name ?? null,
      ...(invitation === undefined ? {} : { invitation }),
    });
    return reply.code(202).send({ status: 'accepted' as const });
  });
}
