import type { FastifyBaseLogger } from 'fastify';
import { Registry } from 'prom-client';
import { openAccountsPart } from './app/accounts.ts';
import { openBrand } from './app/brand.ts';
import { createCaptchaPart } from './app/captcha.ts';
import { createServiceConsole } from './app/console.ts';
import { createContactPart } from './app/contact.ts';
import { createHousekeeping } from './app/housekeeping.ts';
import { createMonitoringPart } from './app/monitoring.ts';
import type { BackgroundTask, Part, PartDeps } from './app/part.ts';
import { createSharedClock } from './app/shared-clock.ts';
import { openStatus } from './app/status.ts';
import {
  openPrivateStore,
  openSigner,
  openStore,
  publicAddressOf,
  stateDirectory,
} from './app/stores.ts';
import { createUsagePart } from './app/usage.ts';
import { openBrowserFiles } from './browser-files/browser-files.ts';
import { type Catalog, createCatalog } from './catalog/catalog.ts';
import type { Clock, Randomness } from './clock.ts';
import type { Config } from './config.ts';
import { createTierOf } from './http/accounts/authenticate.ts';
import { createByteAnswers } from './http/bytes/byte-answers.ts';
import type { App } from './http/deps.ts';
import { createMetrics } from './http/operations/metrics.ts';
import { measureStoreRequests } from './http/operations/store-metrics.ts';
import type { AccessLogSettings } from './http/server/access-log.ts';
import { buildServer, type HttpDeps } from './http/server/build-server.ts';
import { connectionLimits } from './http/server/connection-limits.ts';
import { type ConnectionLimits, createConnections } from './http/server/connections.ts';
import { BODY_BYTES_MAX } from './http/server/json-body.ts';
import type { Load } from './http/server/load.ts';
import type { Identity } from './identity/identity.ts';
import { hashesAtOnce, type PasswordCost } from './identity/passwords/password-hasher.ts';
import type { Log } from './log.ts';
import type { ConformingStore } from './object-store/conforming-store.ts';
import { createDownloadLinks } from './object-store/download-links.ts';
import type { ObjectStore } from './object-store/object-store.ts';
import { createExplainer } from './operations/explain-live.ts';
import type { Status } from './status/status.ts';
import { countProcessors, readProcessLimits, readVersion } from './system.ts';
import type { Usage } from './usage/usage.ts';
import type { Report } from './workers/message.ts';
import type { WorkerLink } from './workers/worker-link.ts';

/** The composition root: with `app/`, decides which part uses which. Never listens. */

export interface AppDeps {
  readonly config: Config;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly logger: FastifyBaseLogger;
  /** Undefined: no request is logged. */
  readonly accessLog?: AccessLogSettings | undefined;
  /** For tests. Default: the store that the configuration names. */
  readonly store?: ObjectStore;
  /** For tests, which use cheaper hashes. Default: that of production. */
  readonly passwordCost?: PasswordCost;
  /** Default: what this process can afford. */
  readonly limits?: ConnectionLimits;
  /** Too much load is answered with 503. Default: measured in this process. */
  readonly load?: Load;
  /** When this process is one of several workers. */
  readonly relay?: Pick<WorkerLink, 'leads' | 'send' | 'inTurn'> | undefined;
}

export interface BuiltApp {
  readonly http: App;
  readonly catalog: Catalog;
  readonly metrics: Registry;
  readonly store: ObjectStore;
  /** The store that the service writes to; may be `store`. */
  readonly privateStore: ObjectStore;
  readonly identity: Identity | undefined;
  readonly usage: Usage;
  readonly status: Status;
  /** Runs in the background: counts, delivers, probes, cleans up. */
  readonly background: {
    start(): void;
    /** @param answered settles when the last request has been answered; the last counts are stored then */
    stop(answered: Promise<unknown>): Promise<void>;
  };
  /** Makes every answer from now on ask its client to close the connection. */
  drain(): void;
  /** Takes over what another worker reports. */
  follow(report: Report): void;
  /** Sets the address that clients use when PUBLIC_URL is not set. Call it once the service listens. */
  learnAddress(url: string): void;
}

/** Opens the store and builds the service; start `catalog` and `background`, then listen. */
export async function buildApp(deps: AppDeps): Promise<BuiltApp> {
  const { config, randomness, logger: log, relay } = deps;
  let listeningUrl = `http://${config.host}:${config.port}`;
  const publicUrl = (): string => config.publicUrl ?? listeningUrl;
  const signer =
    config.store.kind === 'filesystem' ? await openSigner(config, publicUrl) : undefined;
  const metrics = new Registry();
  const storeDeps = {
    config,
    clock: deps.clock,
    randomness,
    startRequest: measureStoreRequests(metrics),
  };
  const store = deps.store ?? (await openStore(storeDeps, signer?.sign));
  const privateStore = await openPrivateStore(storeDeps, store);
  const clock = createSharedClock(deps.clock, store);
  const reading = { config, store, clock, randomness, log };
  const catalog = createCatalog({
    ...reading,
    stateDirectory: stateDirectory(config),
    pollIntervalMs: config.catalogPollMs,
    staleMaxMs: config.catalogStaleMaxMs,
    relay,
  });
  const partDeps: PartDeps = {
    ...reading,
    store: privateStore,
    reportOutcome: (component, failure) => (isSuccess) =>
      isSuccess ? status.noteSuccess(component) : status.noteFailure(component, failure),
  };
  const parts = await openParts(partDeps, catalog, deps);
  const status = openStatus({
    ...reading,
    privateStore,
    catalog,
    components: parts.all.flatMap(({ components = [] }) => components),
    relay,
  });
  const housekeeping = createHousekeeping({
    ...partDeps,
    hostClock: deps.clock,
    tasks: Object.assign({}, ...parts.all.map(({ housekeeping }) => housekeeping)),
  });
  const bytes = createByteAnswers();
  const explain = createExplainer({ store, catalog, clock, tiers: config.accounts.tiers });
  const server = await openServer(deps, publicUrl, metrics, {
    ...parts.routes,
    catalog,
    clock,
    status,
    links: createDownloadLinks({ store, clock, publicAddress: publicAddressOf(config, signer) }),
    store,
    bytes,
    explain,
    console: createServiceConsole({ ...reading, privateStore, explain }),
    files:
      signer === undefined
        ? undefined
        : {
            store,
            bytes,
            clock,
            verifyLink: signer.verify,
            verifyPublicLink: config.publicFilesUrl === undefined ? undefined : signer.verifyPublic,
          },
  });
  const { identity, usage } = parts;
  const tasks = [status, housekeeping, ...parts.all.flatMap(({ background = [] }) => background)];
  return {
    ...server,
    metrics,
    catalog,
    store,
    privateStore,
    identity,
    usage,
    status,
    background: createBackground(tasks, privateStore, log),
    follow: (report) => {
      if (report.kind === 'component') status.follow(report);
      else if (report.kind === 'metrics_asked' || report.kind === 'metrics_made') {
        parts.sharedMetrics?.follow(report);
      } else void catalog.follow(report);
    },
    learnAddress: (url) => {
      listeningUrl = url;
    },
  };
}

/** Every part beside the catalog, and the dependencies that the routes use. */
async function openParts(
  deps: PartDeps,
  catalog: Catalog,
  { passwordCost, relay }: Pick<AppDeps, 'passwordCost' | 'relay'>,
) {
  const usage = createUsagePart(deps, catalog, relay);
  const captcha = createCaptchaPart(deps);
  const contact = createContactPart({ ...deps, captcha: captcha.captcha });
  const accounts = await openAccountsPart({
    ...deps,
    captcha: captcha.captcha,
    passwordCost,
    hashesAtOnce: hashesAtOnce(countProcessors()),
    inTurn: relay?.inTurn,
  });
  const monitoring = createMonitoringPart(deps);
  return {
    // The status page shows their components in this order.
    all: [usage, contact, accounts, captcha, monitoring] as readonly Part[],
    identity: accounts.identity,
    usage: usage.usage,
    sharedMetrics: usage.shared,
    routes: {
      usage: usage.usage,
      contact: contact.routes,
      accounts: accounts.routes,
      monitoringUpstream: monitoring.upstream,
    },
  };
}

type AreaDeps = Pick<
  HttpDeps,
  | 'catalog'
  | 'clock'
  | 'status'
  | 'links'
  | 'store'
  | 'bytes'
  | 'explain'
  | 'console'
  | 'files'
  | 'usage'
  | 'contact'
  | 'accounts'
  | 'monitoringUpstream'
>;

/** The HTTP server with every route; it does not listen yet. */
async function openServer(
  { config, clock, logger, accessLog, limits, load }: AppDeps,
  publicUrl: () => string,
  metrics: Registry,
  areas: AreaDeps,
): Promise<Pick<BuiltApp, 'http' | 'drain'>> {
  const connections = createConnections({
    limits: limits ?? connectionLimits(readProcessLimits()),
    bodyBytesMax: BODY_BYTES_MAX,
    clock,
    log: logger,
  });
  const build = { version: readVersion(), node: process.version };
  createMetrics({ ...areas, registry: metrics, build, connections });
  const draining = new AbortController();
  const brand = await openBrand(config.brand);
  const http = await buildServer(
    {
      logger,
      accessLog,
      clock,
      trustProxy: config.trustProxy,
      draining: draining.signal,
      connections,
      load,
      basePath: new URL(publicUrl()).pathname.replace(/\/+$/, ''),
    },
    {
      ...areas,
      metrics,
      defaultApplication: config.defaultApplication,
      legacy: config.legacy,
      checkAgainAfterSeconds: config.checkAgainAfterSeconds,
      tiers: config.accounts.tiers,
      tierOf: createTierOf(areas.accounts),
      publicUrl,
      version: build.version,
      machineClock: clock,
      browserFiles: openBrowserFiles,
      brand,
    },
  );
  return { http, drain: () => draining.abort() };
}

function createBackground(
  tasks: readonly BackgroundTask[],
  privateStore: ConformingStore,
  log: Log,
): BuiltApp['background'] {
  return {
    start: () => {
      privateStore.ensureConforming().catch((error: unknown) => {
        log.warn(
          { err: error },
          'the service cannot write to its store yet: no sign-in, no message and no count is stored',
        );
      });
      for (const task of tasks) task.start();
    },
    stop: async (answered) => {
      await Promise.all(tasks.map((task) => task.stop(answered)));
    },
  };
}
