import path from 'node:path';
import type { Captcha } from '../captcha/captcha.ts';
import type { Config } from '../config.ts';
import type { AppError } from '../errors.ts';
import type { AccountsDeps } from '../http/accounts/accounts-deps.ts';
import { createAddressLimit } from '../http/server/address-limit.ts';
import { createSigningKeys, importSigningKeys } from '../identity/access-tokens/signing-keys.ts';
import { cleanUpIdentity } from '../identity/clean-up.ts';
import { createIdentity, type Identity } from '../identity/identity.ts';
import {
  createPasswordHasher,
  type HashTurn,
  type PasswordCost,
} from '../identity/passwords/password-hasher.ts';
import { createEmbeddedProvider } from '../identity/providers/embedded.ts';
import { createGotrueProvider } from '../identity/providers/gotrue.ts';
import type { IdentityProvider } from '../identity/providers/identity-provider.ts';
import { openLocalSecret } from '../local-secret.ts';
import type { Log } from '../log.ts';
import type { Secret } from '../secret.ts';
import type { Part, PartDeps } from './part.ts';

/** The dependencies of the account routes. */
type AccountRoutes = AccountsDeps & { readonly billingPortalUrl: string | undefined };

interface AccountsPart extends Part {
  /** Undefined if IDENTITY_PROVIDER is off. */
  readonly identity: Identity | undefined;
  readonly routes: AccountRoutes;
}

interface AccountsPartDeps extends PartDeps {
  readonly captcha: Captcha;
  /** Default: that of production. */
  readonly passwordCost: PasswordCost | undefined;
  readonly hashesAtOnce: number;
  /** Limits the hashes that the workers of one service compute at once. */
  readonly inTurn: HashTurn | undefined;
}

/** Limits requests with a token from one IP address. A request without a valid token costs little. */
const REQUESTS_PER_MINUTE = 600;

/** Accounts, sessions and developer keys. @throws AppError `invalid_configuration` */
export async function openAccountsPart(deps: AccountsPartDeps): Promise<AccountsPart> {
  const provider = createProvider(deps);
  const identity = provider === undefined ? undefined : await openIdentity(deps, provider);
  // Runs also while accounts are off: earlier documents may be left to clean up.
  const part = {
    routes: routesOf(deps, identity),
    housekeeping: { accounts: () => cleanUpIdentity(deps) },
  };
  if (identity === undefined) return { ...part, identity };
  const component = {
    kind: 'probed',
    id: 'identity_provider',
    name: 'Signing in',
    outageImpact: 'minor',
    probe: (signal: AbortSignal) => identity.provider.probe(signal),
  } as const;
  return { ...part, identity, components: [component] };
}

async function openIdentity(deps: PartDeps, provider: IdentityProvider): Promise<Identity> {
  const { config, log } = deps;
  const { sessionSecret, keys } = await openSecrets(config, log);
  return createIdentity({
    ...deps,
    provider,
    registration: config.accounts.registration,
    sessionSecret,
    signingKeys: await importSigningKeys(keys.reveal()),
    // Every replica must accept the tokens of the others: the issuer is the same for all.
    issuer: config.publicUrl ?? 'urn:slipway',
  });
}

function createProvider(deps: AccountsPartDeps): IdentityProvider | undefined {
  const { store, clock, randomness, reportOutcome } = deps;
  const { provider } = deps.config.accounts;
  if (provider.kind === 'off') return undefined;
  if (provider.kind === 'gotrue') {
    const report = reportOutcome('identity_provider', 'The identity provider does not answer.');
    const onOutcome = (failure: AppError | undefined) => report(failure === undefined);
    return createGotrueProvider({ ...provider, clock, onOutcome });
  }
  const passwords = createPasswordHasher({
    cost: deps.passwordCost,
    atOnce: deps.hashesAtOnce,
    inTurn: deps.inTurn,
  });
  return createEmbeddedProvider({ store, clock, randomness, passwords });
}

/** The configured secrets, or those in this machine's data directory, which are created once. */
async function openSecrets(
  config: Config,
  log: Log,
): Promise<{ readonly sessionSecret: Secret; readonly keys: Secret }> {
  const { sessionSecret, accessTokenKeys } = config.accounts;
  const directory = path.join(config.dataDirectory, 'secrets');
  if (
    config.store.kind === 's3' &&
    (sessionSecret === undefined || accessTokenKeys === undefined)
  ) {
    log.warn(
      { directory },
      'SESSION_SECRET or ACCESS_TOKEN_KEYS is not set: this process uses secrets of this machine, and other replicas refuse its sessions',
    );
  }
  const file = (name: string): string => path.join(directory, name);
  return {
    sessionSecret: sessionSecret ?? (await openLocalSecret(file('session-secret'))),
    keys:
      accessTokenKeys ?? (await openLocalSecret(file('access-token-keys.json'), createSigningKeys)),
  };
}

function routesOf(
  { config, captcha }: AccountsPartDeps,
  identity: Identity | undefined,
): AccountRoutes {
  const { tiers, cookieMode, cookieSameSite, websiteOrigins, billingPortalUrl } = config.accounts;
  return {
    identity,
    tiers,
    captcha,
    tryLimit: createAddressLimit({ name: 'sign-ins', perMinute: config.authPerAddress }),
    requestLimit: createAddressLimit({ name: 'tokens', perMinute: REQUESTS_PER_MINUTE }),
    cookies: {
      enabled: cookieMode,
      sameSite: cookieSameSite,
      // The console signs in from the service's own pages.
      origins: [...websiteOrigins, ...ownOriginOf(config)],
    },
    billingPortalUrl,
  };
}

/** That of PUBLIC_URL; empty without one. */
function ownOriginOf({ publicUrl }: Config): readonly string[] {
  return publicUrl === undefined ? [] : [new URL(publicUrl).origin];
}
