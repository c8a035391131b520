import './check-node.js';
import type { AddressInfo } from 'node:net';
import { hostname } from 'node:os';
import { pino } from 'pino';
import { type BuiltApp, buildApp } from './app.ts';
import { type Config, loadConfig } from './config.ts';
import { isAppError, systemCode } from './errors.ts';
import { detailedReadiness } from './http/operations/health.ts';
import { startMetricsServer } from './http/operations/metrics.ts';
import type { AccessLogSettings } from './http/server/access-log.ts';
import { explainListenError } from './http/server/listen-error.ts';
import { readEnvironment, systemClock, systemRandomness } from './system.ts';

/** The service's entry point: the only file of `src` that listens, handles signals and exits. */

/** The start waits for the catalog at most this long; then the service listens without it. */
const FIRST_LOAD_MAX_MS = 1_000;
const STOP_MAX_MS = 10_000;
/** After the signal, answers ask clients to close their connections for this long; then the service closes them. */
const DRAIN_MS = 1_500;
/** Answers that take longer than this after the signal are cut off. */
const ANSWERS_MAX_MS = 9_000;
/** The counts are stored at this time after the signal at the latest; later counts are lost. */
const COUNTED_MAX_MS = 5_000;
const DEFAULT_METRICS_PORT = 9464;
/** Log lines that cannot be written are kept in memory up to this size; further lines are dropped. */
const UNWRITTEN_LOG_BYTES_MAX = 1024 * 1024;
/** Lines of the access log are collected: one system call for each would cost as much as parsing its request. */
const ACCESS_LOG_WRITTEN_MS = 1_000;
/** POSIX keeps writes of this size apart when several processes write to one pipe. */
const WRITTEN_BYTES = 4096;
/** Longer than a line. */
const LINE_BYTES = 512;

const config = readConfig();
const output = openOutput();
const logger = pino({ level: config.logLevel }, output);
// Separate, because a line of the log above is written at once.
const accessOutput = openOutput(WRITTEN_BYTES - LINE_BYTES);
setInterval(() => accessOutput.flush(), ACCESS_LOG_WRITTEN_MS).unref();
process.on('exit', () => accessOutput.flushSync());

try {
  const clock = systemClock;
  const accessLog = accessLogOf(config);
  const app = await buildApp({ config, clock, randomness: systemRandomness, logger, accessLog });
  const metricsServer = await openMetrics(app, config);
  await Promise.race([app.catalog.start(), systemClock.sleep(FIRST_LOAD_MAX_MS)]);
  app.background.start();
  await app.http.listen({ host: config.host, port: config.port }).catch((error: unknown) => {
    const settings = { host: 'HOST', port: 'PORT' };
    throw explainListenError(error, { host: config.host, port: config.port, settings });
  });
  const { port } = app.http.server.address() as AddressInfo;
  const address = `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${port}`;
  app.learnAddress(address);
  logger.info(
    {
      store: app.store.location,
      public_url: config.publicUrl ?? address,
      accounts: config.accounts.provider.kind,
      contact_form: config.captcha.kind === 'missing' ? 'off' : 'on',
      contact_mail: config.contact.mail === undefined ? 'off' : 'on',
      node: process.version,
    },
    `slipway is listening on ${address}`,
  );
  stopOnSignals(app, () => metricsServer?.close());
} catch (error) {
  fail(error);
}

/**
 * Opens standard output for lines of a log.
 *
 * @param minLength bytes that are collected before they are written
 */
function openOutput(minLength = 0) {
  // Synchronous: a flush at the end would never finish when the reader of the pipe has stopped reading.
  const options = {
    fd: 1,
    sync: true,
    maxLength: UNWRITTEN_LOG_BYTES_MAX,
    maxWrite: WRITTEN_BYTES,
  };
  const stream = pino.destination({ ...options, minLength });
  // A full disk must not stop the service: log lines are lost instead.
  stream.on('error', () => {});
  return stream;
}

/** Undefined when no request is logged. */
function accessLogOf({ loggedRequests: requests }: Config): AccessLogSettings | undefined {
  if (requests === 'off' || !logger.isLevelEnabled('info')) return undefined;
  const write = (line: string): void => void accessOutput.write(line);
  return { requests, write, clock: systemClock, facts: { pid: process.pid, hostname: hostname() } };
}

function readConfig(): Config {
  try {
    return loadConfig(readEnvironment());
  } catch (error) {
    return fail(error);
  }
}

/** The default port may be taken, because two processes on one machine are common; METRICS_PORT must be free. */
async function openMetrics(app: BuiltApp, { metricsHost, metricsPort }: Config) {
  const readiness = () => detailedReadiness({ catalog: app.catalog, clock: systemClock }).document;
  const deps = { registry: app.metrics, readiness, clock: systemClock, log: logger };
  const start = (port: number) => startMetricsServer(deps, { host: metricsHost, port });
  try {
    return await start(metricsPort ?? DEFAULT_METRICS_PORT);
  } catch (error) {
    if (systemCode(error) !== 'EADDRINUSE' || metricsPort !== undefined) {
      const port = metricsPort ?? DEFAULT_METRICS_PORT;
      const settings = { host: 'METRICS_HOST', port: 'METRICS_PORT' };
      throw explainListenError(error, { host: metricsHost, port, settings });
    }
    app.metrics.clear();
    logger.warn(
      { port: DEFAULT_METRICS_PORT },
      'the metrics port is taken, so no metrics are served; set METRICS_PORT to a free port',
    );
    return undefined;
  }
}

/** Stops the service on SIGTERM and SIGINT; exits with 1 when that takes longer than {@link STOP_MAX_MS}. */
function stopOnSignals(app: BuiltApp, closeMetrics: () => void): void {
  let stopping = false;
  const stop = (signal: NodeJS.Signals): void => {
    if (stopping) return;
    stopping = true;
    logger.info({ signal }, 'stopping');
    setTimeout(() => {
      logger.error({}, 'the service did not stop in time');
      process.exit(1);
    }, STOP_MAX_MS).unref();
    closeMetrics();
    finish(app).then(
      () => {
        logger.info({}, 'stopped');
        process.exit(0);
      },
      (error: unknown) => fail(error),
    );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}

/** Completes running answers, then stores the counts. A slow client must not delay the counts. */
async function finish(app: BuiltApp): Promise<void> {
  app.drain();
  await systemClock.sleep(DRAIN_MS);
  const late = setTimeout(() => {
    logger.warn({}, 'connections of slow clients are closed');
    app.http.server.closeAllConnections();
  }, ANSWERS_MAX_MS - DRAIN_MS);
  const answered = app.http.close().finally(() => clearTimeout(late));
  const counted = Promise.race([answered, systemClock.sleep(COUNTED_MAX_MS - DRAIN_MS)]);
  await Promise.all([answered, app.background.stop(counted), app.catalog.stop()]);
}

function fail(error: unknown): never {
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  const isKnown = isAppError(error) || (error instanceof Error && 'code' in error);
  console.error(`slipway: ${isKnown ? message : stack}`);
  process.exit(1);
}
