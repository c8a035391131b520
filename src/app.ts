import path from 'node:path';
import type { FastifyBaseLogger } from 'fastify';
import type { Registry } from 'prom-client';
import { type Catalog, createCatalog } from './catalog/catalog.ts';
import type { Clock, Randomness } from './clock.ts';
import type { Config } from './config.ts';
import { createCaptcha } from './contact/captcha.ts';
import { createAddressLimit } from './http/address-limit.ts';
import { createTierOf } from './http/authenticate.ts';
import { buildServer } from './http/build-server.ts';
import type { App } from './http/deps.ts';
import { createMetrics } from './http/metrics.ts';
import { createEmbeddedProvider } from './identity/embedded.ts';
import { createGotrueProvider } from './identity/gotrue.ts';
import { createIdentity, type Identity } from './identity/identity.ts';
import { createKeySet, importKeySet } from './identity/key-set.ts';
import { createPasswordHasher } from './identity/password.ts';
import { openLocalSecret } from './local-secret.ts';
import { ensureConforming } from './object-store/conformance-probe.ts';
import { createConformingStore } from './object-store/conforming-store.ts';
import { openFilesystemStore } from './object-store/filesystem.ts';
import type { ObjectStore, PresignedUrl, PresignRequest } from './object-store/object-store.ts';
import { createDownloadLinks } from './object-store/presigned-url-cache.ts';
import { createS3Store } from './object-store/s3.ts';
import { createUrlSigner, type UrlSigner } from './object-store/signed-url.ts';
import type { AppendDeps } from './sequence/append.ts';
import { noUsage } from './telemetry/usage.ts';

/** The composition root: what is used where is decided here, and nothing listens. */

/** From one address: refreshes and the like, which need a good token to cost anything. */
const REQUESTS_PER_MINUTE = 600;

export interface AppDeps {
  readonly config: Config;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly logger: FastifyBaseLogger;
  /** Instead of the one that the configuration names, in tests. */
  readonly store?: ObjectStore;
}

export interface BuiltApp {
  readonly http: App;
  readonly catalog: Catalog;
  readonly metrics: Registry;
  readonly store: ObjectStore;
  /** Where it is reached when PUBLIC_URL does not say: known once it listens. */
  learnAddress(url: string): void;
}

/** Opens the store and builds the service; start `catalog`, then listen. */
export async function buildApp(deps: AppDeps): Promise<BuiltApp> {
  const { config, clock, randomness, logger } = deps;
  let publicUrl = config.publicUrl ?? `http://${config.host}:${config.port}`;
  const signer =
    config.store.kind === 'filesystem' ? await openSigner(config, () => publicUrl) : undefined;
  const store = deps.store ?? (await openStore(deps, signer?.sign));
  const catalog = createCatalog({
    store,
    clock,
    randomness,
    log: logger,
    stateDirectory: path.join(config.dataDirectory, 'state'),
    pollIntervalMs: config.catalogPollMs,
    staleMaxMs: config.catalogStaleMaxMs,
  });
  const privateStore = await openPrivateStore(deps, store);
  const identity = await openIdentity(deps, privateStore);
  const accounts = accountsDeps(config, identity);
  const metrics = createMetrics({ catalog, clock });
  const http = await buildServer(
    { logger, trustProxy: config.trustProxy },
    {
      catalog,
      clock,
      metrics,
      links: createDownloadLinks({ store, clock }),
      defaultApplication: config.defaultApplication,
      checkAgainAfterSeconds: config.checkAgainAfterSeconds,
      tiers: config.accounts.tiers,
      tierOf: createTierOf(accounts),
      usage: noUsage,
      accounts,
      publicUrl: () => publicUrl,
      files: signer === undefined ? undefined : { store, clock, verifyLink: signer.verify },
    },
  );
  return {
    http,
    catalog,
    metrics,
    store,
    learnAddress: (url) => {
      publicUrl = config.publicUrl ?? url;
    },
  };
}

/** Undefined where there are no accounts. @throws AppError `invalid_configuration` */
async function openIdentity(deps: AppDeps, store: ObjectStore): Promise<Identity | undefined> {
  const { config, clock, randomness, logger: log } = deps;
  const { provider, sessionSecret, accessTokenKeys } = config.accounts;
  if (provider.kind === 'off') return undefined;
  const file = (name: string): string => path.join(config.dataDirectory, 'secrets', name);
  const secret = sessionSecret ?? (await openLocalSecret(file('session-secret')));
  const keys =
    accessTokenKeys ?? (await openLocalSecret(file('access-token-keys.json'), createKeySet));
  const isLocal = sessionSecret === undefined || accessTokenKeys === undefined;
  if (isLocal && config.store.kind === 's3') {
    log.warn(
      { directory: path.join(config.dataDirectory, 'secrets') },
      'SESSION_SECRET and ACCESS_TOKEN_KEYS are of this machine alone: other replicas will refuse its sessions',
    );
  }
  const base = { store, clock, randomness };
  return createIdentity({
    ...base,
    log,
    provider:
      provider.kind === 'gotrue'
        ? createGotrueProvider(provider)
        : createEmbeddedProvider({ ...base, passwords: createPasswordHasher() }),
    sessionSecret: secret,
    keys: await importKeySet(keys.reveal()),
    // Replicas issue for one another: by the address they share, or by name where there is none.
    issuer: config.publicUrl ?? 'urn:slipway',
  });
}

function accountsDeps(config: Config, identity: Identity | undefined) {
  const { tiers, cookieMode, cookieSameSite, websiteOrigins, billingPortalUrl } = config.accounts;
  return {
    identity,
    tiers,
    captcha: createCaptcha(config.captcha),
    tryLimit: createAddressLimit({ perMinute: config.authPerAddress }),
    requestLimit: createAddressLimit({ perMinute: REQUESTS_PER_MINUTE }),
    cookies: { enabled: cookieMode, sameSite: cookieSameSite, origins: websiteOrigins },
    billingPortalUrl,
  };
}

async function openSigner(config: Config, baseUrl: () => string): Promise<UrlSigner> {
  const secret =
    config.urlSigningSecret ??
    (await openLocalSecret(path.join(config.dataDirectory, 'secrets', 'url-signing-secret')));
  return createUrlSigner({ secret: secret.reveal(), baseUrl });
}

/**
 * The store that the configuration names.
 *
 * @param signUrl makes the links of a directory store; without it, none can be made
 * @throws AppError `store_nonconforming`, `invalid_configuration`
 */
export async function openStore(
  deps: Pick<AppDeps, 'config' | 'clock' | 'randomness'>,
  signUrl: (request: PresignRequest) => PresignedUrl = cannotSign,
): Promise<ObjectStore> {
  const { config, clock, randomness } = deps;
  if (config.store.kind === 's3') return createS3Store({ ...config.store, clock, randomness });
  return openFilesystemStore({ directory: path.join(config.dataDirectory, 'objects'), signUrl });
}

/**
 * Where the service writes: a bucket of its own when there is one, else `store`. Probed before the
 * first write to it.
 */
export async function openPrivateStore(
  deps: Pick<AppDeps, 'config' | 'clock' | 'randomness'>,
  store: ObjectStore,
): Promise<ObjectStore> {
  const { config, clock, randomness } = deps;
  const { privateBucket: bucket } = config;
  const isShared = bucket === undefined || config.store.kind !== 's3';
  const own = isShared ? store : createS3Store({ ...config.store, bucket, clock, randomness });
  return createConformingStore({ store: own, clock, randomness });
}

function cannotSign(): never {
  throw new Error('Links of a directory store are made by the service alone.');
}

/** What the command line works with: the same store, without the service. */
export interface Publisher extends AppendDeps {
  /** See {@link openPrivateStore}. */
  readonly privateStore: ObjectStore;
  /** @throws AppError `store_nonconforming`; a verdict already stored is believed unless `fresh` */
  ensureConforming(options?: { readonly fresh: boolean }): Promise<void>;
}

/** @throws those of {@link openStore} */
export async function openPublisher(
  deps: Pick<AppDeps, 'config' | 'clock' | 'randomness'>,
): Promise<Publisher> {
  const { clock, randomness } = deps;
  const store = await openStore(deps);
  return {
    store,
    privateStore: await openPrivateStore(deps, store),
    clock,
    randomness,
    ensureConforming: (options) => ensureConforming({ store, clock, randomness, ...options }),
  };
}
