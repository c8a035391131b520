import { AppError } from '../../core/errors.ts';
import type { Access } from '../../server/access/access.ts';
import { bearerOf } from './access-tokens/access-token.ts';
import type { Identity } from './identity.ts';
import { notSignedIn } from './identity-errors.ts';
import type { AccountsDeps } from './routes/accounts-deps.ts';
import { requireFeature, requirePrincipal } from './routes/authenticate.ts';

/** The facts that accounts tell other routes about the sender of a request. */
export function createAccess(
  deps: Pick<AccountsDeps, 'tiers' | 'requestLimit'> & { readonly identity: Identity },
): Access {
  const { tiers } = deps;
  const { accessTokens, developerKeys } = deps.identity;
  const acceptToken: Access['requireFeature'] = async (request, feature) => {
    const { tier } = await requirePrincipal(deps, request);
    requireFeature(tiers, tier, feature);
    return tier;
  };
  return {
    hasAccounts: true,
    tierOf: (authorization) => {
      const token = bearerOf(authorization);
      if (token === undefined) return null;
      return accessTokens.verify(token).then(
        ({ tier }) => tiers.tierNamed(tier),
        () => null,
      );
    },
    requireAccount: async (request) => {
      await requirePrincipal(deps, request);
    },
    requireFeature: acceptToken,
    requireScope: async (request, application, feature) => {
      const token = bearerOf(request.headers.authorization);
      if (token === undefined) throw notSignedIn();
      if (!developerKeys.isDeveloperKey(token)) return acceptToken(request, feature);
      // Verifying a developer key costs store requests, even when the key is invented.
      await deps.requestLimit.consume(request.ip);
      const { account, scopes } = await developerKeys.verify(token);
      const tier = tiers.tierNamed(account.tier);
      requireFeature(tiers, tier, feature);
      if (scopes.some((scope) => scope.application === application)) return tier;
      throw new AppError('scope_missing', `This key has no access to ${application}.`);
    },
  };
}
