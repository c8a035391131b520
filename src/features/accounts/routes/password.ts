import { z } from 'zod';
import type { App } from '../../../server/deps.ts';
import { errorResponses } from '../../../server/http/error-responses.ts';
import { changeOwnPassword } from '../change-password.ts';
import { signedOutWhenErased } from './account-error.ts';
import type { AccountsDeps } from './accounts-deps.ts';
import { asOwner, openIdentity, requirePrincipal } from './authenticate.ts';
import { signalOfClient } from './client-signal.ts';
import { SIGNED_IN_CHANGE } from './error-codes.ts';
import { newPasswordSchema, passwordSchema } from './request-field.ts';

const schema = {
  operationId: 'changePassword',
  summary: 'Change your password',
  description:
    'Requires the current password. Ends every other session and revokes every developer key; this session continues. After a 503 the new password may already be in force.',
  tags: ['account'],
  body: z.object({
    password: passwordSchema.describe('The current password.'),
    new_password: newPasswordSchema,
  }),
  response: {
    204: z.null(),
    ...errorResponses(
      ...SIGNED_IN_CHANGE,
      'invalid_request',
      'weak_password',
      'invalid_credentials',
      'overloaded',
    ),
  },
};

export function registerPassword(app: App, deps: AccountsDeps): void {
  app.post('/api/v1/account/password', { schema }, async (request, reply) => {
    const principal = await requirePrincipal(deps, request);
    await deps.tryLimit.consume(request.ip);
    const { password, new_password: newPassword } = request.body;
    const { account, session } = principal;
    const owner = asOwner(openIdentity(deps), principal);
    const signal = signalOfClient(request, reply);
    const change = { account, session, password, newPassword, signal };
    await changeOwnPassword(owner, change).catch(signedOutWhenErased);
    return reply.code(204).send(null);
  });
}
