import path from 'node:path';
import type { FastifyBaseLogger } from 'fastify';
import { Registry } from 'prom-client';
import { createExplainer } from './answers/explain/explain-live.ts';
import { createCatalog } from './catalog/live/catalog.ts';
import type { Trust } from './catalog/trust/trust.ts';
import { type Config, loadConfig, withoutOthers } from './config.ts';
import type { Clock, Randomness } from './core/clock.ts';
import { AppError } from './core/errors.ts';
import type { Log } from './core/log.ts';
import { stateDirectoryOf } from './core/state-file.ts';
import { readProcessLimits, readVersion } from './core/system.ts';
import type { Identity } from './features/accounts/identity.ts';
import type { PasswordCost } from './features/accounts/passwords/password-hasher.ts';
import { openParts } from './features/services.ts';
import { createTrustCache, openTrust } from './releases/trust/open-trust.ts';
import { createByteAnswers } from './server/bytes/byte-answers.ts';
import { createOffload } from './server/bytes/offload.ts';
import { desktopRoutes } from './server/desktop/routes.ts';
import { createHousekeeping } from './server/housekeeping/housekeeping.ts';
import type { AccessLogSettings } from './server/http/access-log.ts';
import { BODY_BYTES_MAX } from './server/http/body-limits.ts';
import { connectionLimits } from './server/limits/connection-limits.ts';
import { type ConnectionLimits, createConnections } from './server/limits/connections.ts';
import { createLoad, type Load } from './server/limits/load.ts';
import { createMetrics } from './server/metrics/metrics.ts';
import { measureStoreRequests } from './server/metrics/store-metrics.ts';
import { openCaptcha } from './server/open-captcha.ts';
import type { OpenedService, OpenService } from './server/opened-service.ts';
import type { BackgroundTask, Part, PartDeps, PartRouteDeps } from './server/part.ts';
import { buildServer } from './server/set-up/build-server.ts';
import { openStatus } from './server/status/service.ts';
import type { Status } from './server/status/status.ts';
import { openUsage } from './server/usage/service.ts';
import type { Report } from './server/workers/message.ts';
import type { WorkerLink } from './server/workers/worker-link.ts';
import type { ConformingStore } from './store/conforming-store.ts';
import { createDownloadLinks } from './store/download-links.ts';
import type { ObjectStore } from './store/object-store.ts';
import {
  objectsDirectory,
  openPrivateStore,
  openSigner,
  openStore,
  publicAddressOf,
  stateDirectory,
} from './store/open/stores.ts';
import { createSharedClock } from './store/shared-clock.ts';
import type { Usage } from './usage/usage.ts';
import { openBrowserFiles } from './web/browser-files.ts';

/** The composition root opens the parts that `features/services.ts` lists, and connects them. It never listens. */

export interface AppDeps {
  readonly config: Config;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly logger: FastifyBaseLogger;
  /** Undefined: no request is logged. */
  readonly accessLog?: AccessLogSettings | undefined;
  /** Only tests set it. Default: the store that the configuration names. */
  readonly store?: ObjectStore;
  /** Tests use a lower cost. Default: the cost of production. */
  readonly passwordCost?: PasswordCost;
  /** Default: limits that fit the limits of this process. */
  readonly limits?: ConnectionLimits;
  /** Tests set false, to compare the two ways of answering: see `answer-memory.ts`. Default true. */
  readonly remembersAnswers?: boolean;
  /** The service answers 503 when the load is too high. Default: the load that this process measures. */
  readonly load?: Load;
  /** Present when this process is one of several workers. */
  readonly relay?: Pick<WorkerLink, 'leads' | 'send' | 'inTurn'> | undefined;
}

export interface BuiltApp extends OpenedService {
  readonly config: Config;
  readonly metrics: Registry;
  readonly store: ObjectStore;
  /** The store that the service writes to. It may be the same as `store`. */
  readonly privateStore: ObjectStore;
  readonly identity: Identity | undefined;
  readonly usage: Usage;
  readonly status: Status;
  /** Facts about the parts, by name. The log states these facts when the service listens. */
  readonly facts: Readonly<Record<string, string>>;
  /** The tasks in the background, which count, deliver, probe and clean up. */
  readonly background: {
    start(): void;
    /** @param answered settles when the service has answered the last request; then the tasks store the last counts */
    stop(answered: Promise<unknown>): Promise<void>;
  };
  /** Makes every answer from now on ask its client to close the connection. */
  drain(): void;
  /** Takes over the report of another worker. */
  follow(report: Report): void;
}

/** Opens the service for a command, and loads the settings itself. */
export const openService: OpenService = ({ environment, onlyAnswers = false, ...deps }) => {
  const config = loadConfig(environment, onlyAnswers ? 'command' : 'service');
  return buildApp({ ...deps, config: onlyAnswers ? withoutOthers(config) : config });
};

/** Opens the store and builds the service. The caller then starts `catalog` and `background`, and listens. */
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
  const trust = await openServiceTrust(config, store, clock);
  const catalog = createCatalog({
    ...reading,
    trust,
    stateDirectory: stateDirectory(config),
    pollIntervalMs: config.catalogPollMs,
    staleMaxMs: config.catalogStaleMaxMs,
    relay,
  });
  const { tiers } = config.accounts;
  const reportOutcome: PartDeps['reportOutcome'] = (component, failure) => (isSuccess) =>
    isSuccess ? status.noteSuccess(component) : status.noteFailure(component, failure);
  const usage = openUsage({ ...reading, store: privateStore, catalog, relay });
  const captcha = openCaptcha({ config, log, reportOutcome });
  const partDeps = {
    ...reading,
    store: privateStore,
    releaseStore: store,
    trust,
    origins: originsOf(config),
    captcha: captcha.captcha,
    explain: createExplainer({ store, trust, catalog, clock, tiers }),
    inTurn: relay?.inTurn,
    passwordCost: deps.passwordCost,
    reportOutcome,
  };
  const bytes = createByteAnswers(deps.clock);
  const files = signer && {
    store,
    bytes,
    clock,
    offload: createOffload(config.filesOffload, objectsDirectory(config)),
    verifyLink: signer.verify,
    verifyPublicLink: config.publicFilesUrl === undefined ? undefined : signer.verifyPublic,
  };
  const desktop: Part = { routes: (shared) => desktopRoutes({ ...shared, files }) };
  const { parts, access, identity } = await openParts(partDeps, { desktop, usage, captcha });
  const status = openStatus({
    ...reading,
    privateStore,
    catalog,
    components: parts.flatMap(({ components = [] }) => components),
    relay,
  });
  const housekeeping = createHousekeeping({
    ...partDeps,
    hostClock: deps.clock,
    tasks: Object.assign({}, ...parts.map(({ housekeeping }) => housekeeping)),
  });
  const server = await openServer(deps, metrics, parts, {
    catalog,
    clock,
    status,
    links: createDownloadLinks({ store, clock, publicAddress: publicAddressOf(config, signer) }),
    store,
    bytes,
    usage: usage.usage,
    access,
    tierOf: access.tierOf,
    tiers,
    publicUrl,
    basePath: new URL(publicUrl()).pathname.replace(/\/+$/, ''),
    defaultApplication: config.defaultApplication,
    checkAgainAfterSeconds: config.checkAgainAfterSeconds,
    load: deps.load ?? createLoad(),
    version: readVersion(),
    machineClock: deps.clock,
    browserFiles: openBrowserFiles,
  });
  const tasks = [status, housekeeping, ...parts.flatMap(({ background = [] }) => background)];
  return {
    ...server,
    config,
    metrics,
    catalog,
    store,
    privateStore,
    identity,
    usage: usage.usage,
    status,
    facts: Object.assign({}, ...parts.map(({ facts }) => facts)),
    background: createBackground(tasks, privateStore, log),
    follow: (report) => {
      if (report.kind === 'component') status.follow(report);
      else if (report.kind === 'metrics_asked' || report.kind === 'metrics_made') {
        usage.shared?.follow(report);
      } else void catalog.follow(report);
    },
    learnAddress: (url) => {
      listeningUrl = url;
    },
  };
}

/** Without a root of trust, the service serves unsigned applications only, and opens no keys. */
async function openServiceTrust(config: Config, store: ObjectStore, clock: Clock): Promise<Trust> {
  const { trust: settings } = config;
  const state = stateDirectoryOf({ directory: stateDirectory(config), location: store.location });
  const trust = await openTrust({
    store,
    clock,
    settings,
    ask: async (name) => {
      throw new AppError('key_required', `${name} has a passphrase: set TRUST_KEY_PASSPHRASE.`);
    },
    cacheOf: (application) => createTrustCache(path.join(state, application, 'trust')),
  });
  // A wrong key stops the start, and not the first renewal.
  if (settings.root !== undefined) await trust.signers();
  return trust;
}

/** The origins of the website, and the origin of the service itself, from which the console signs in. */
function originsOf({ accounts, publicUrl }: Config): readonly string[] {
  const own = publicUrl === undefined ? [] : [new URL(publicUrl).origin];
  return [...accounts.websiteOrigins, ...own];
}

/** The HTTP server with every route; it does not listen yet. */
async function openServer(
  { config, clock, logger, accessLog, limits, remembersAnswers = true }: AppDeps,
  metrics: Registry,
  parts: readonly Part[],
  shared: PartRouteDeps,
): Promise<Pick<BuiltApp, 'http' | 'drain'>> {
  const { access, basePath, load, publicUrl, version } = shared;
  const connections = createConnections({
    limits: limits ?? connectionLimits(readProcessLimits()),
    bodyBytesMax: BODY_BYTES_MAX.any,
    clock,
    log: logger,
  });
  const build = { version, node: process.version };
  createMetrics({ ...shared, registry: metrics, build, connections });
  const draining = new AbortController();
  const http = await buildServer(
    {
      logger,
      accessLog,
      clock,
      trustProxy: config.trustProxy,
      draining: draining.signal,
      connections,
      basePath,
      load,
      remembersAnswers,
    },
    {
      metrics,
      origins: originsOf(config),
      publicUrl,
      documents: {
        basePath,
        hasAccounts: access.hasAccounts,
        tags: parts.flatMap(({ tags }) => tags ?? []),
      },
      routes: parts.flatMap(({ routes }) => routes?.(shared) ?? []),
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
