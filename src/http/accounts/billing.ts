import { z } from 'zod';
import { AppError } from '../../errors.ts';
import { readAccount } from '../../identity/accounts/account.ts';
import { notSignedIn } from '../../identity/identity-errors.ts';
import { guardSession } from '../../identity/sessions/check-session.ts';
import type { App } from '../deps.ts';
import { problems } from '../server/validation.ts';
import { BODY_PROBLEMS, READING, SIGNED_IN_PROBLEMS } from './account.ts';
import type { AccountsDeps } from './accounts-deps.ts';
import { openIdentity, requirePrincipal } from './authenticate.ts';

/** What the account's tier opens, and the way to whoever sells another one. */
export function registerBilling(
  app: App,
  deps: AccountsDeps & { readonly billingPortalUrl: string | undefined },
): void {
  const { tiers } = deps;
  const billing = {
    summary: 'Your tier and what it opens',
    tags: ['billing'],
    response: {
      200: z.strictObject({
        tier: z.string(),
        opens: z
          .array(z.string())
          .describe('`developer_keys`, `analytics`, `channel:{app}/{channel}`.'),
        tiers: z.array(z.strictObject({ tier: z.string(), opens: z.array(z.string()) })),
        portal: z.boolean().describe('Whether there is a portal to change it.'),
      }),
      ...problems({ ...SIGNED_IN_PROBLEMS, 503: `${READING}, document_newer` }),
    },
  };
  app.get('/api/v1/billing', { schema: billing }, async (request) => {
    const { account: id } = await requirePrincipal(deps, request);
    // As it is now: the token may be older than what was bought.
    const account = await readAccount(openIdentity(deps).store, id);
    if (account === undefined) throw notSignedIn();
    const tier = tiers.tierNamed(account.tier);
    return {
      tier,
      opens: [...tiers.opens(tier)],
      tiers: tiers.names.map((name) => ({ tier: name, opens: [...tiers.opens(name)] })),
      portal: deps.billingPortalUrl !== undefined,
    };
  });

  const portal = {
    summary: 'Go to the billing portal',
    description:
      'An address with a token that says who comes, signed with the keys of /.well-known/jwks.json: `typ` portal+jwt, `aud` the portal, good for a minute. The portal must take each `jti` only once.',
    tags: ['billing'],
    response: {
      201: z.strictObject({ url: z.string(), expires_in: z.int().describe('Seconds.') }),
      ...problems({
        400: 'malformed_json',
        ...SIGNED_IN_PROBLEMS,
        ...BODY_PROBLEMS,
        503: `${READING}, document_newer`,
      }),
    },
  };
  app.post('/api/v1/portal/session', { schema: portal }, async (request, reply) => {
    const principal = await requirePrincipal(deps, request);
    const { account: id } = principal;
    const { billingPortalUrl } = deps;
    if (billingPortalUrl === undefined) {
      throw new AppError(
        'not_configured',
        'There is no billing portal: BILLING_PORTAL_URL is not set.',
      );
    }
    const { store, accessTokens } = openIdentity(deps);
    const account = await readAccount(store, id);
    if (account === undefined) throw notSignedIn();
    // The portal changes what the account may do: it is no place for a session that is over.
    await guardSession(store, principal)(account);
    const { token, seconds } = await accessTokens.issueForPortal({
      account: id,
      email: account.email,
      tier: tiers.tierNamed(account.tier),
      audience: billingPortalUrl,
    });
    const url = `${billingPortalUrl}?token=${token}`;
    return reply.code(201).send({ url, expires_in: seconds });
  });
}
