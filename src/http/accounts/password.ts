import { z } from 'zod';
import { changeOwnPassword } from '../../identity/change-password.ts';
import type { App } from '../deps.ts';
import { problems } from '../server/validation.ts';
import { CHANGE_PROBLEMS, signedOutWhenGone, WRITING } from './account.ts';
import type { AccountsDeps } from './accounts-deps.ts';
import { asOwner, openIdentity, requirePrincipal } from './authenticate.ts';
import { passwordSchema } from './session-answer.ts';

const schema = {
  summary: 'Change your password',
  description:
    'Asks for the present one. Ends every other session and every developer key; the session that asks goes on. After a 503 the new password may be in force already.',
  tags: ['account'],
  body: z.object({
    password: passwordSchema.describe('The present one.'),
    new_password: passwordSchema.describe(
      'At least 8 characters; no common password, and not the address.',
    ),
  }),
  response: {
    204: z.null(),
    ...problems({
      ...CHANGE_PROBLEMS,
      400: 'invalid_request, malformed_json, weak_password',
      401: 'not_signed_in, invalid_credentials',
      503: `overloaded, ${WRITING}, document_newer`,
    }),
  },
};

export function registerPassword(app: App, deps: AccountsDeps): void {
  app.post('/api/v1/account/password', { schema }, async (request, reply) => {
    const principal = await requirePrincipal(deps, request);
    await deps.tryLimit.consume(request.ip);
    const { password, new_password: newPassword } = request.body;
    const { account, session } = principal;
    const owner = asOwner(openIdentity(deps), principal);
    await changeOwnPassword(owner, { account, session, password, newPassword }).catch(
      signedOutWhenGone,
    );
    return reply.code(204).send(null);
  });
}
