import './check-node.js';
import cluster from 'node:cluster';
import { fstatSync } from 'node:fs';
import { hostname } from 'node:os';
import { pino } from 'pino';
import { type Config, loadConfig } from './config.ts';
import { isAppError } from './core/errors.ts';
import { openLogOutput } from './core/log-output.ts';
import { countProcessors, readEnvironment, systemClock, systemRandomness } from './core/system.ts';
import type { AccessLogSettings } from './server/http/access-log.ts';
import { explainListenError } from './server/http/listen-error.ts';
import { openMetricsServer } from './server/metrics/metrics-server.ts';
import type { Facts } from './server/workers/message.ts';
import { reservePort } from './server/workers/reserve-port.ts';
import { openWorkerLink, type WorkerLink } from './server/workers/worker-link.ts';

/** The service's entry point: the only file of `src` that handles signals and exits. */

/** The service, or the primary process of its workers. */
interface Running {
  readonly facts: Facts;
  stop(): Promise<void>;
  /** Ends other processes at once. */
  kill?(): void;
}

const STOP_MAX_MS = 10_000;
/** Commands end with the same exit code on wrong settings. */
const EXIT_WRONG_SETTINGS = 2;
const ACCESS_LOG_WRITTEN_MS = 1_000;
/**
 * When several workers write to one pipe, POSIX does not mix writes of up to 4,096 bytes. It never mixes writes to a
 * file.
 */
const ACCESS_LOG_BATCH_BYTES = { pipe: 4_096, file: 16_384 };
const parts = { clock: systemClock, randomness: systemRandomness };

const config = readConfig();
const output = await openLogOutput(config.logFormat, process.stdout);
const logger = pino({ level: config.logLevel }, output);

let running: Running | undefined;
let isStopping = false;
const link = cluster.worker && openWorkerLink({ ...parts, worker: cluster.worker, log: logger });
try {
  running = await start();
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
} catch (error) {
  await fail(error);
}

/**
 * Collects the lines of the access log, because one system call for each line would cost as much as parsing a request.
 *
 * @returns undefined when no request is logged
 */
function openAccessLog(): AccessLogSettings | undefined {
  const { loggedRequests: requests } = config;
  if (requests === 'off' || !logger.isLevelEnabled('info')) return undefined;
  const facts = { pid: process.pid, hostname: hostname() };
  // An operator reads the terminal, so each line is written at once.
  if (output.isText) return { requests, write: output.write, clock: systemClock, facts };
  const batchBytes =
    ACCESS_LOG_BATCH_BYTES[fstatSync(process.stdout.fd).isFile() ? 'file' : 'pipe'];
  let lines = '';
  const flush = (): void => {
    if (lines !== '') output.write(lines);
    lines = '';
  };
  const write = (line: string): void => {
    if (lines.length + line.length > batchBytes) flush();
    lines += line;
  };
  setInterval(flush, ACCESS_LOG_WRITTEN_MS).unref();
  process.on('exit', flush);
  return { requests, write, clock: systemClock, facts };
}

function readConfig(): Config {
  try {
    return loadConfig(readEnvironment());
  } catch (error) {
    return exitWith(messageOf(error), EXIT_WRONG_SETTINGS);
  }
}

async function start(): Promise<Running> {
  if (link !== undefined) return startService(link);
  const workers = config.workers === 'auto' ? countProcessors() : config.workers;
  const started = workers > 1 ? await startPrimary(workers) : await startService(undefined);
  const { address, ...facts } = started.facts;
  const level = facts.problem === undefined ? 'info' : 'warn';
  logger[level]({ ...facts, workers }, `slipway is listening on ${address}`);
  if (output.isText) console.log(describeAddresses(started.facts));
  return started;
}

/** The addresses to open, printed on a terminal after the log of the start. */
function describeAddresses({ public_url: url, applications, problem }: Facts): string {
  const addresses = {
    '/docs': 'the API, to try in a browser',
    '/api/v1/desktop/latest-version': 'the newest release',
    '/api/v1/system/status': 'the status of the service',
  };
  const width = Math.max(...Object.keys(addresses).map((path) => path.length));
  const lines = Object.entries(addresses).map(
    ([path, what]) => `  ${url}${path.padEnd(width)}   ${what}`,
  );
  if (problem !== undefined) {
    lines.push('', `  The service cannot answer updates yet. ${problem}`);
    lines.push('  The log above says why, and "slipway doctor" says what to do.');
  } else if (applications === 0) {
    lines.push('', '  No release is published yet: slipway publish VERSION FILES --create');
  }
  return ['', ...lines, '', '  Stop the service with Ctrl-C.', ''].join('\n');
}

/** Imports the service here, so that the primary process uses no memory for it. */
async function startService(to: WorkerLink | undefined): Promise<Running> {
  const service = await import('./service.ts');
  return service.startService({
    ...parts,
    config,
    logger,
    accessLog: openAccessLog(),
    link: to,
    onStop: () => stop('primary'),
  });
}

async function startPrimary(count: number): Promise<Running> {
  const { host, port } = config;
  const { createWorkers } = await import('./server/workers/primary.ts');
  const found = await reservePort(host, port).catch((error: unknown) => {
    throw explainListenError(error, { host, port, settings: { host: 'HOST', port: 'PORT' } });
  });
  const workers = createWorkers({
    ...parts,
    log: logger,
    count,
    // While workers hash passwords, half of the processors stay free for answers to clients.
    turnsMax: Math.max(1, Math.floor(countProcessors() / 2)),
    env: { PORT: String(found) },
  });
  const metricsServer = await openMetricsServer(
    { ...workers.measurements, ...parts, log: logger },
    config,
  );
  const facts = await workers.start();
  return {
    facts,
    kill: workers.kill,
    stop: () => {
      metricsServer?.close();
      return workers.stop();
    },
  };
}

/**
 * Stops on SIGTERM, SIGINT and the primary's request; exits with 1 when the stop takes longer than {@link STOP_MAX_MS}.
 */
function stop(cause: string): void {
  // A terminal and npm each send the signal, so the process ignores the second signal.
  if (isStopping) return;
  isStopping = true;
  logger.info({ signal: cause }, 'stopping');
  setTimeout(() => {
    logger.error({}, 'the service did not stop in time');
    running?.kill?.();
    process.exit(1);
  }, STOP_MAX_MS).unref();
  Promise.resolve(running?.stop()).then(() => {
    logger.info({}, 'stopped');
    process.exit(0);
  }, fail);
}

async function fail(error: unknown): Promise<never> {
  if (link === undefined) return exitWith(messageOf(error));
  await link.noteFailure(messageOf(error));
  return process.exit(1);
}

function exitWith(message: string, code = 1): never {
  console.error(`slipway: ${message}`);
  process.exit(code);
}

function messageOf(error: unknown): string {
  const { message, stack = message } = error instanceof Error ? error : new Error(String(error));
  const isKnown = isAppError(error) || (error instanceof Error && 'code' in error);
  return isKnown ? message : stack;
}
