import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { AppError } from '../../../core/errors.ts';
import { SIGNED_IN } from '../../../server/access/error-codes.ts';
import type { App } from '../../../server/deps.ts';
import { forbidCaching } from '../../../server/http/conditional.ts';
import { errorResponses } from '../../../server/http/error-responses.ts';
import { readAccount } from '../accounts/account.ts';
import { notSignedIn } from '../identity-errors.ts';
import { guardSession } from '../sessions/check-session.ts';
import type { AccountsDeps } from './accounts-deps.ts';
import { openIdentity, requirePrincipal } from './authenticate.ts';
import { WITH_BODY } from './error-codes.ts';

export interface BillingDeps extends AccountsDeps {
  /** Undefined where there is no billing portal. */
  readonly billingPortalUrl: string | undefined;
}

const opensSchema = z
  .array(z.string())
  .describe('`developer_keys`, `analytics`, `explain`, `channel:{app}/{channel}`.');

const billingSchema = {
  operationId: 'getBilling',
  summary: 'Read your tier and what it includes',
  tags: ['billing'],
  response: {
    200: z.strictObject({
      tier: z.string(),
      opens: opensSchema,
      tiers: z.array(z.strictObject({ tier: z.string(), opens: opensSchema })),
      portal: z.boolean().describe('Whether there is a billing portal to change the tier.'),
    }),
    ...errorResponses(...SIGNED_IN, 'document_newer'),
  },
};

const portalSchema = {
  operationId: 'openBillingPortal',
  summary: 'Open the billing portal',
  description:
    'Answers with an address that contains a token for the portal. The token identifies the account and is signed with the keys of /.well-known/jwks.json: `typ` is portal+jwt, `aud` is the portal. It is valid for one minute. The portal must accept each `jti` only once.',
  tags: ['billing'],
  response: {
    201: z.strictObject({ url: z.string(), expires_in: z.int().describe('Seconds.') }),
    ...errorResponses(...SIGNED_IN, ...WITH_BODY, 'document_newer'),
  },
};

/** The tier of an account, and the billing portal that changes it. */
export function billingRoutes(deps: BillingDeps): FastifyPluginAsyncZod {
  return async (app) => {
    forbidCaching(app);
    registerBilling(app, deps);
  };
}

function registerBilling(app: App, deps: BillingDeps): void {
  const { tiers, billingPortalUrl } = deps;
  app.get('/api/v1/billing', { schema: billingSchema }, async (request) => {
    const { account: id } = await requirePrincipal(deps, request);
    // Reads the account from the store, because the access token may be older than the last change of the tier.
    const account = await readAccount(openIdentity(deps).store, id);
    if (account === undefined) throw notSignedIn();
    const tier = tiers.tierNamed(account.tier);
    return {
      tier,
      opens: [...tiers.opens(tier)],
      tiers: tiers.names.map((name) => ({ tier: name, opens: [...tiers.opens(name)] })),
      portal: billingPortalUrl !== undefined,
    };
  });

  app.post('/api/v1/portal/session', { schema: portalSchema }, async (request, reply) => {
    const principal = await requirePrincipal(deps, request);
    const { account: id } = principal;
    if (billingPortalUrl === undefined) {
      const detail = 'There is no billing portal: BILLING_PORTAL_URL is not set.';
      throw new AppError('not_configured', detail);
    }
    const { store, accessTokens } = openIdentity(deps);
    const account = await readAccount(store, id);
    if (account === undefined) throw notSignedIn();
    // The portal can change the tier of the account, so an ended session must not open it.
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
