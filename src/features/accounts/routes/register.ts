import { z } from 'zod';
import { ACCOUNTS } from '../../../server/access/error-codes.ts';
import type { App } from '../../../server/deps.ts';
import { errorResponses } from '../../../server/http/error-responses.ts';
import { normalizeEmail } from '../accounts/account.ts';
import { register as registerPerson } from '../register.ts';
import type { AccountsDeps } from './accounts-deps.ts';
import { openIdentity } from './authenticate.ts';
import { signalOfClient } from './client-signal.ts';
import { WITH_BODY, WRITING } from './error-codes.ts';
import {
  EXAMPLE_EMAIL,
  EXAMPLE_PASSWORD,
  emailSchema,
  nameSchema,
  newPasswordSchema,
} from './request-field.ts';

const INVITATION_LENGTH_MAX = 128;
/** The longest token that the route accepts, in characters; tokens of captcha services are shorter. */
const TOKEN_LENGTH_MAX = 8_192;

const bodySchema = z
  .object({
    email: emailSchema,
    password: newPasswordSchema,
    name: nameSchema.optional(),
    invitation: z
      .string()
      .max(INVITATION_LENGTH_MAX)
      .optional()
      .describe('The code of an invitation, if this service requires one.'),
    captcha_token: z
      .string()
      .max(TOKEN_LENGTH_MAX)
      .optional()
      .describe('The token of the captcha, if this service has one.'),
  })
  .meta({ example: { email: EXAMPLE_EMAIL, password: EXAMPLE_PASSWORD } });

const schema = {
  operationId: 'register',
  summary: 'Register',
  description:
    'The answer does not tell whether the mail address already has an account: sign in to find out. Invalid invitations are all refused with the same error.',
  tags: ['auth'],
  body: bodySchema,
  response: {
    202: z.strictObject({ status: z.literal('accepted') }),
    ...errorResponses(
      ...ACCOUNTS,
      ...WITH_BODY,
      ...WRITING,
      'invalid_request',
      'weak_password',
      'registration_refused',
      'captcha_refused',
      'captcha_unavailable',
      'identity_provider_unavailable',
      'overloaded',
    ),
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
      signal: signalOfClient(request, reply),
      name: name ?? null,
      ...(invitation === undefined ? {} : { invitation }),
    });
    return reply.code(202).send({ status: 'accepted' });
  });
}
