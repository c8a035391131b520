import path from 'node:path';
import type { AppError } from '../../core/errors.ts';
import { openLocalSecret } from '../../core/local-secret.ts';
import type { Log } from '../../core/log.ts';
import type { Secret } from '../../core/secret.ts';
import { countProcessors } from '../../core/system.ts';
import type { Access } from '../../server/access/access.ts';
import type { PartTags } from '../../server/documentation/documents.ts';
import { createAddressLimit } from '../../server/limits/address-limit.ts';
import type { Part, PartDeps } from '../../server/part.ts';
import type { ServiceSettings } from '../../server/settings.ts';
import type { StoreSettings } from '../../store/open/settings.ts';
import { createAccess } from './access.ts';
import { createSigningKeys, importSigningKeys } from './access-tokens/signing-keys.ts';
import { cleanUpIdentity } from './clean-up.ts';
import { createIdentity, type Identity } from './identity.ts';
import {
  createPasswordHasher,
  hashesAtOnce,
  type PasswordCost,
} from './passwords/password-hasher.ts';
import { createEmbeddedProvider } from './providers/embedded.ts';
import { createGotrueProvider } from './providers/gotrue.ts';
import type { IdentityProvider } from './providers/identity-provider.ts';
import type { AccountsDeps } from './routes/accounts-deps.ts';
import { billingRoutes } from './routes/billing.ts';
import { accountRoutes } from './routes/routes.ts';
import type { AccountSettings } from './settings.ts';

interface AccountsPart extends Part {
  /** Undefined if IDENTITY_PROVIDER is off. */
  readonly identity: Identity | undefined;
  /** Undefined without accounts. */
  readonly access: Access | undefined;
  /** A separate part, because its routes come after the routes of other parts. */
  readonly billing: Part;
}

interface AccountsPartDeps extends PartDeps {
  readonly config: Settings;
  /** Undefined for the cost of production. */
  readonly passwordCost: PasswordCost | undefined;
}

type Settings = AccountSettings & ServiceSettings & StoreSettings;

const TAGS: PartTags = {
  signIn: [{ name: 'auth', description: 'Register, sign in, refresh and sign out.' }],
  signedIn: [
    { name: 'account', description: 'Your account and its sessions.' },
    { name: 'developer keys', description: 'Keys for your programs.' },
  ],
};

/** Limits requests with a token from one IP address. A request without a valid token costs little. */
const REQUESTS_PER_MINUTE = 600;

/**
 * Opens accounts, sessions and developer keys.
 *
 * @throws AppError `invalid_configuration`
 */
export async function openAccounts(deps: AccountsPartDeps): Promise<AccountsPart> {
  const provider = createProvider(deps);
  const identity = provider === undefined ? undefined : await openIdentity(deps, provider);
  const shared = accountsDepsOf(deps, identity);
  const { billingPortalUrl, provider: settings } = deps.config.accounts;
  const part = {
    routes: () => accountRoutes(shared),
    tags: TAGS,
    // Housekeeping also runs while accounts are off, because documents from an earlier time may need it.
    housekeeping: { accounts: () => cleanUpIdentity(deps) },
    facts: { accounts: settings.kind },
    billing: {
      routes: () => billingRoutes({ ...shared, billingPortalUrl }),
      tags: { signedIn: [{ name: 'billing', description: 'Your tier, and the billing portal.' }] },
    },
  };
  if (identity === undefined) return { ...part, identity, access: undefined };
  const component = {
    kind: 'probed',
    id: 'identity_provider',
    name: 'Signing in',
    outageImpact: 'minor',
    probe: (signal: AbortSignal) => identity.provider.probe(signal),
  } as const;
  const access = createAccess({ ...shared, identity });
  return { ...part, identity, access, components: [component] };
}

async function openIdentity(deps: AccountsPartDeps, provider: IdentityProvider): Promise<Identity> {
  const { config, log } = deps;
  const { sessionSecret, keys } = await openSecrets(config, log);
  return createIdentity({
    ...deps,
    provider,
    registration: config.accounts.registration,
    sessionSecret,
    signingKeys: await importSigningKeys(keys.reveal()),
    // The issuer is the same for all replicas, because each replica must accept the tokens of the other replicas.
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
    atOnce: hashesAtOnce(countProcessors()),
    inTurn: deps.inTurn,
  });
  return createEmbeddedProvider({ store, clock, randomness, passwords });
}

/**
 * The configured secrets. When they are not configured, the secrets in this machine's data directory, which the service
 * creates once.
 */
async function openSecrets(
  config: AccountSettings & StoreSettings,
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

function accountsDepsOf(
  { config, captcha, origins }: AccountsPartDeps,
  identity: Identity | undefined,
): AccountsDeps {
  const { tiers, cookieMode, cookieSameSite } = config.accounts;
  return {
    identity,
    tiers,
    captcha,
    tryLimit: createAddressLimit({ name: 'sign-ins', perMinute: config.authPerAddress }),
    requestLimit: createAddressLimit({ name: 'tokens', perMinute: REQUESTS_PER_MINUTE }),
    cookies: { enabled: cookieMode, sameSite: cookieSameSite, origins },
  };
}
