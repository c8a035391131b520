import cookie from '@fastify/cookie';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import type { App } from '../../../server/deps.ts';
import { forbidCaching } from '../../../server/http/conditional.ts';
import { registerAccount } from './account.ts';
import { registerAccountSessions } from './account-sessions.ts';
import type { AccountsDeps } from './accounts-deps.ts';
import { openIdentity } from './authenticate.ts';
import { registerDeveloperKeys } from './developer-keys.ts';
import { registerLogin } from './login.ts';
import { registerLogout } from './logout.ts';
import { registerMailRequests } from './mail-request.ts';
import { registerPassword } from './password.ts';
import { registerRefresh } from './refresh.ts';
import { registerRegister } from './register.ts';

/**
 * Registration, sign-in, sessions, and the routes of an account. While accounts are off, all these routes answer 501.
 */
export function accountRoutes(deps: AccountsDeps): FastifyPluginAsyncZod {
  return async (app) => {
    registerJwks(app, deps);
    await app.register(async (scope) => {
      await scope.register(cookie);
      forbidCaching(scope);

      registerRegister(scope, deps);
      registerLogin(scope, deps);
      registerRefresh(scope, deps);
      registerLogout(scope, deps);
      registerMailRequests(scope, deps);

      registerAccount(scope, deps);
      registerPassword(scope, deps);
      registerAccountSessions(scope, deps);
      registerDeveloperKeys(scope, deps);
    });
  };
}

const MAX_AGE_SECONDS = 300;

/** The public keys of access tokens (RFC 7517), for other services that verify access tokens. */
function registerJwks(app: App, deps: Pick<AccountsDeps, 'identity'>): void {
  app.get('/.well-known/jwks.json', { schema: { hide: true } }, (_request, reply) => {
    const { signingKeys } = openIdentity(deps);
    reply
      .header('cache-control', `public, max-age=${MAX_AGE_SECONDS}`)
      .send({ keys: signingKeys.publicKeys });
  });
}
