import type { AddressInfo } from 'node:net';
import { collectDefaultMetrics } from 'prom-client';
import { type AppDeps, type BuiltApp, buildApp } from './app.ts';
import { detailedReadiness } from './server/health.ts';
import { explainListenError } from './server/http/listen-error.ts';
import { openMetricsServer } from './server/metrics/metrics-server.ts';
import { readMetrics, renderMetrics } from './server/metrics/render-metrics.ts';
import type { Facts } from './server/workers/message.ts';
import { KERNEL_SHARES_PORTS } from './server/workers/reserve-port.ts';
import type { WorkerLink } from './server/workers/worker-link.ts';

/** The service in one process: the whole service, or one of several workers. */
export interface Service {
  readonly facts: Facts;
  /** Completes running answers, then stores the counts. It takes at most ten seconds. */
  stop(): Promise<void>;
}

interface ServiceDeps
  extends Pick<AppDeps, 'config' | 'clock' | 'randomness' | 'logger' | 'accessLog'> {
  /** The connection to the primary process, when this process is a worker. */
  readonly link: WorkerLink | undefined;
  /** Called when the primary process asks this worker to stop. */
  readonly onStop: () => void;
}

/** The start waits for the catalog at most this long; then the service listens without a catalog. */
const FIRST_LOAD_MAX_MS = 1_000;
/**
 * A worker waits this long while other workers answer clients: without a catalog, this worker would answer with errors.
 */
const OTHERS_ANSWER_LOAD_MAX_MS = 15_000;
/** After the signal, answers ask clients to close their connections for this long; then the service closes them. */
const DRAIN_MS = 1_500;
/** The service cuts off answers that take longer than this after the signal. */
const ANSWERS_MAX_MS = 9_000;
/** The service stores the counts within this time after the signal; later counts are lost. */
const COUNTED_MAX_MS = 5_000;

/** Resolves when the service answers clients. @throws AppError, such as `invalid_configuration` */
export async function startService(deps: ServiceDeps): Promise<Service> {
  const { config, clock, link } = deps;
  const app = await buildApp({ ...deps, relay: link });
  let closeMetrics = (): void => undefined;
  let loadMaxMs = FIRST_LOAD_MAX_MS;
  // The primary process serves the metrics of all workers.
  if (link === undefined) closeMetrics = await openMetrics(deps, app);
  else if ((await join(deps, app, link)).othersAnswer) loadMaxMs = OTHERS_ANSWER_LOAD_MAX_MS;
  await Promise.race([app.catalog.start(), clock.sleep(loadMaxMs)]);
  app.background.start();
  const { host, port } = config;
  // Fastify passes the options on to Node. Its own types do not name `reusePort`.
  const options = { host, port, reusePort: link !== undefined && KERNEL_SHARES_PORTS };
  await app.http.listen(options).catch((error: unknown) => {
    throw explainListenError(error, { host, port, settings: { host: 'HOST', port: 'PORT' } });
  });
  const { port: found } = app.http.server.address() as AddressInfo;
  const address = `http://${host.includes(':') ? `[${host}]` : host}:${found}`;
  app.learnAddress(address);
  const { ready, problems, applications } = app.catalog.health();
  const facts = {
    address,
    // The log of the start says why the service cannot answer, and what to do.
    ...(ready ? {} : { problem: problems[0] ?? 'The catalog is not loaded yet.' }),
    store: app.store.location,
    public_url: config.publicUrl ?? address,
    applications: Object.keys(applications).length,
    ...inOrder(app.facts),
    node: process.version,
  };
  link?.noteListening(facts);
  return {
    facts,
    stop: () => {
      closeMetrics();
      return finish(deps, app);
    },
  };
}

/** Sorts the facts by name, because the order of the parts is the order of their routes. */
function inOrder(facts: BuiltApp['facts']): BuiltApp['facts'] {
  return Object.fromEntries(Object.entries(facts).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** @returns a function that closes the server of the metrics */
async function openMetrics(deps: ServiceDeps, app: BuiltApp): Promise<() => void> {
  const { clock, logger: log, config } = deps;
  const metrics = () => renderMetrics(app.metrics);
  const readiness = async () => detailedReadiness({ catalog: app.catalog, clock }).document;
  const server = await openMetricsServer({ metrics, readiness, clock, log }, config);
  if (server === undefined) app.metrics.clear();
  else collectDefaultMetrics({ register: app.metrics });
  return () => server?.close();
}

function join({ clock, onStop }: ServiceDeps, app: BuiltApp, link: WorkerLink) {
  collectDefaultMetrics({ register: app.metrics });
  return link.join({
    lead: () => app.catalog.lead(),
    stopLeading: () => app.catalog.stopLeading(),
    follow: app.follow,
    measure: async () => ({
      metrics: await readMetrics(app.metrics),
      readiness: detailedReadiness({ catalog: app.catalog, clock }).document,
    }),
    stop: onStop,
  });
}

/** Stops the service. A slow client must not delay the counts. */
async function finish({ clock, logger }: ServiceDeps, app: BuiltApp): Promise<void> {
  app.drain();
  await clock.sleep(DRAIN_MS);
  const late = setTimeout(() => {
    logger.warn({}, 'connections of slow clients are closed');
    app.http.server.closeAllConnections();
  }, ANSWERS_MAX_MS - DRAIN_MS);
  const answered = app.http.close().finally(() => clearTimeout(late));
  const counted = Promise.race([answered, clock.sleep(COUNTED_MAX_MS - DRAIN_MS)]);
  await Promise.all([answered, app.background.stop(counted), app.catalog.stop(answered)]);
}
