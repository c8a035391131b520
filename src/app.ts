import path from 'node:path';
import type { FastifyBaseLogger } from 'fastify';
import type { Registry } from 'prom-client';
import { createAccountsDeps, openIdentity } from './app/accounts.ts';
import { createContact } from './app/contact.ts';
import { createHousekeeping } from './app/housekeeping.ts';
import { createKnownVersions } from './app/known-versions.ts';
import { createSharedClock } from './app/shared-clock.ts';
import { openStatus } from './app/status.ts';
import { openPrivateStore, openSigner, openStore } from './app/stores.ts';
import { createCaptcha } from './captcha/captcha.ts';
import { type Catalog, createCatalog } from './catalog/catalog.ts';
import type { Clock, Randomness } from './clock.ts';
import type { Config } from './config.ts';
import { createMailer } from './contact/mail.ts';
import { removeOldMessages } from './contact/retention.ts';
import { createTierOf } from './http/accounts/authenticate.ts';
import type { App } from './http/deps.ts';
import { createMetrics } from './http/operations/metrics.ts';
import { buildServer } from './http/server/build-server.ts';
import { connectionLimits } from './http/server/connection-limits.ts';
import { type ConnectionLimits, createConnections } from './http/server/connections.ts';
import { BODY_BYTES_MAX } from './http/server/server-options.ts';
import { cleanUpIdentity } from './identity/clean-up.ts';
import type { Identity } from './identity/identity.ts';
import type { PasswordCost } from './identity/passwords/password-hasher.ts';
import { createMonitoringUpstream } from './monitoring/upstream.ts';
import { createDownloadLinks } from './object-store/download-links.ts';
import type { ObjectStore } from './object-store/object-store.ts';
import type { Status } from './status/status.ts';
import { readProcessLimits } from './system.ts';
import { createUsage, type Usage } from './usage/usage.ts';

/** The composition root: what is used where is decided here and in `app/`, and nothing listens. */

export { openStore } from './app/stores.ts';

const MONITORING_FAILS = 'The monitoring behind this does not answer.';

export interface AppDeps {
  readonly config: Config;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly logger: FastifyBaseLogger;
  /** Instead of the one that the configuration names, in tests. */
  readonly store?: ObjectStore;
  /** Cheaper in tests. */
  readonly passwordCost?: PasswordCost;
  /** Unless given, what this process can afford. */
  readonly limits?: ConnectionLimits;
}

export interface BuiltApp {
  readonly http: App;
  readonly catalog: Catalog;
  readonly metrics: Registry;
  readonly store: ObjectStore;
  /** Where the service writes. */
  readonly privateStore: ObjectStore;
  readonly identity: Identity | undefined;
  readonly usage: Usage;
  readonly status: Status;
  /** What runs beside the answers: counting, delivering, checking, clearing up. */
  readonly background: {
    start(): void;
    /** @param answered when no request is being answered any more: the last counts are stored then */
    stop(answered: Promise<unknown>): Promise<void>;
  };
  /** From now on every answer asks its client to close the connection. */
  drain(): void;
  /** Where it is reached when PUBLIC_URL does not say: known once it listens. */
  learnAddress(url: string): void;
}

/** Opens the store and builds the service; start `catalog` and `background`, then listen. */
export async function buildApp(deps: AppDeps): Promise<BuiltApp> {
  const { config, randomness, logger: log } = deps;
  let publicUrl = config.publicUrl ?? `http://${config.host}:${config.port}`;
  const signer =
    config.store.kind === 'filesystem' ? await openSigner(config, () => publicUrl) : undefined;
  const store = deps.store ?? (await openStore(deps, signer?.sign));
  const privateStore = await openPrivateStore(deps, store);
  const clock = createSharedClock(deps.clock, store);
  const reading = { store, clock, randomness, log };
  const writing = { ...reading, store: privateStore };
  const { tiers } = config.accounts;
  const catalog = createCatalog({
    ...reading,
    stateDirectory: path.join(config.dataDirectory, 'state'),
    pollIntervalMs: config.catalogPollMs,
    staleMaxMs: config.catalogStaleMaxMs,
  });
  const isOpen = (application: string, channel: string): boolean =>
    !tiers.restricts(application, channel);
  const usage = createUsage({
    ...writing,
    flushIntervalMs: config.countersFlushMs,
    groupMin: config.publicGroupMin,
    isKnownVersion: createKnownVersions(catalog, isOpen),
    isPublicChannel: isOpen,
  });
  const { mail } = config.contact;
  const mailer = mail === undefined ? undefined : createMailer(mail);
  const monitoring =
    config.monitoringUpstream === undefined
      ? undefined
      : createMonitoringUpstream({
          baseUrl: config.monitoringUpstream,
          clock,
          log,
          onOutcome: (ok) => noteOutcome('monitoring', MONITORING_FAILS)(ok),
        });
  const status = openStatus({
    ...reading,
    config,
    privateStore,
    catalog,
    mailer,
    monitoring,
    identity: () => identity,
    captcha: () => captcha,
  });
  const noteOutcome = (id: string, failure: string) => (ok: boolean) =>
    ok ? status.noteSuccess(id) : status.noteFailure(id, failure);
  const identity = await openIdentity({
    ...writing,
    config,
    passwordCost: deps.passwordCost,
    onProviderOutcome: noteOutcome('identity_provider', 'The identity provider does not answer.'),
  });
  const captcha = createCaptcha(config.captcha, {
    log,
    onOutcome: noteOutcome('captcha', 'The captcha service does not answer.'),
  });
  const contact = createContact({
    ...writing,
    config,
    captcha,
    mailer,
    onMailOutcome: noteOutcome('mail', 'A mail could not be delivered; it is tried again.'),
  });
  const accounts = createAccountsDeps(config, identity, captcha);
  const connections = createConnections({
    limits: deps.limits ?? connectionLimits(readProcessLimits()),
    bodyBytesMax: BODY_BYTES_MAX,
    clock: deps.clock,
    log,
  });
  const metrics = createMetrics({ catalog, clock, connections });
  const draining = new AbortController();
  const http = await buildServer(
    {
      logger: log,
      trustProxy: config.trustProxy,
      draining: draining.signal,
      connections,
      basePath: new URL(publicUrl).pathname.replace(/\/+$/, ''),
    },
    {
      catalog,
      clock,
      metrics,
      links: createDownloadLinks({ store, clock }),
      defaultApplication: config.defaultApplication,
      checkAgainAfterSeconds: config.checkAgainAfterSeconds,
      tiers,
      tierOf: createTierOf(accounts),
      usage,
      status,
      monitoringUpstream: monitoring,
      contact: contact.route,
      accounts,
      publicUrl: () => publicUrl,
      files: signer === undefined ? undefined : { store, clock, verifyLink: signer.verify },
    },
  );
  const housekeeping = createHousekeeping({
    ...writing,
    hostClock: deps.clock,
    tasks: {
      accounts: () => cleanUpIdentity(writing),
      messages: () => removeOldMessages(writing, config.contact.keptMs),
    },
  });
  const parts = [status, housekeeping, ...(contact.delivery ? [contact.delivery] : [])];
  return {
    http,
    catalog,
    metrics,
    store,
    privateStore,
    identity,
    usage,
    status,
    background: {
      start: () => {
        privateStore.ensureConforming().catch((error: unknown) => {
          log.warn(
            { err: error },
            'nothing can be written yet: no sign-in, no message and no count is stored',
          );
        });
        for (const part of [usage, ...parts]) part.start();
      },
      stop: async (answered) => {
        const flushed = answered.catch(() => undefined).then(() => usage.stop());
        await Promise.all([flushed, ...parts.map((part) => part.stop())]);
      },
    },
    drain: () => draining.abort(),
    learnAddress: (url) => {
      publicUrl = config.publicUrl ?? url;
    },
  };
}
