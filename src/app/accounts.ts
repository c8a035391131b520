import path from 'node:path';
import type { Captcha } from '../captcha/captcha.ts';
import type { Clock, Randomness } from '../clock.ts';
import type { Config } from '../config.ts';
import type { AccountsDeps } from '../http/accounts/accounts-deps.ts';
import { createAddressLimit } from '../http/server/address-limit.ts';
import { createSigningKeys, importSigningKeys } from '../identity/access-tokens/signing-keys.ts';
import { createIdentity, type Identity } from '../identity/identity.ts';
import { createPasswordHasher, type PasswordCost } from '../identity/passwords/password-hasher.ts';
import { createEmbeddedProvider } from '../identity/providers/embedded.ts';
import { createGotrueProvider } from '../identity/providers/gotrue.ts';
import type { IdentityProvider } from '../identity/providers/identity-provider.ts';
import { openLocalSecret } from '../local-secret.ts';
import type { Log } from '../log.ts';
import type { ObjectStore } from '../object-store/object-store.ts';
import type { Secret } from '../secret.ts';

/** Builds the parts of accounts from the configuration. */

export interface OpenIdentityDeps {
  readonly config: Config;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly log: Log;
  readonly store: ObjectStore;
  readonly onProviderOutcome: (ok: boolean, sentence: string) => void;
  readonly passwordCost: PasswordCost | undefined;
}

/** From one IP address, for requests with a token. A request without a valid token costs little. */
const REQUESTS_PER_MINUTE = 600;

/** Undefined if IDENTITY_PROVIDER is off. @throws AppError `invalid_configuration` */
export async function openIdentity(deps: OpenIdentityDeps): Promise<Identity | undefined> {
  const { config, store, clock, randomness, log } = deps;
  const provider = createProvider(deps);
  if (provider === undefined) return undefined;
  const { sessionSecret, keys } = await openSecrets(config, log);
  return createIdentity({
    store,
    clock,
    randomness,
    log,
    provider,
    registration: config.accounts.registration,
    sessionSecret,
    signingKeys: await importSigningKeys(keys.reveal()),
    // Every replica must accept the tokens of the others: the issuer is the same for all.
    issuer: config.publicUrl ?? 'urn:slipway',
  });
}

function createProvider(deps: OpenIdentityDeps): IdentityProvider | undefined {
  const { store, clock, randomness, onProviderOutcome } = deps;
  const { provider } = deps.config.accounts;
  if (provider.kind === 'off') return undefined;
  if (provider.kind === 'gotrue') {
    return createGotrueProvider({
      ...provider,
      clock,
      onOutcome: (failure) => onProviderOutcome(failure === undefined, failure?.message ?? ''),
    });
  }
  const passwords = createPasswordHasher({ cost: deps.passwordCost });
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

export function createAccountsDeps(
  config: Config,
  identity: Identity | undefined,
  captcha: Captcha,
): AccountsDeps & { readonly billingPortalUrl: string | undefined } {
  const { tiers, cookieMode, cookieSameSite, websiteOrigins, billingPortalUrl } = config.accounts;
  return {
    identity,
    tiers,
    captcha,
    tryLimit: createAddressLimit({ perMinute: config.authPerAddress }),
    requestLimit: createAddressLimit({ perMinute: REQUESTS_PER_MINUTE }),
    cookies: { enabled: cookieMode, sameSite: cookieSameSite, origins: websiteOrigins },
    billingPortalUrl,
  };
}
