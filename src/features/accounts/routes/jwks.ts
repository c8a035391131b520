import type { App } from '../../../server/deps.ts';
import type { AccountsDeps } from './accounts-deps.ts';
import { openIdentity } from './authenticate.ts';

const MAX_AGE_SECONDS = 300;

/** The public keys of access tokens, for services that verify them themselves (RFC 7517). */
export function registerJwks(app: App, deps: Pick<AccountsDeps, 'identity'>): void {
  app.get('/.well-known/jwks.json', { schema: { hide: true } }, (_request, reply) => {
    const { signingKeys } = openIdentity(deps);
    reply
      .header('cache-control', `public, max-age=${MAX_AGE_SECONDS}`)
      .send({ keys: signingKeys.publicKeys });
  });
}
