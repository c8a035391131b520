import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Registry } from 'prom-client';
import type { Clock } from '../../core/clock.ts';
import { systemCode } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import { explainListenError } from '../http/listen-error.ts';
import { type ConnectionLimits, createConnections } from '../limits/connections.ts';

/**
 * Serves the metrics and the detailed readiness on a separate address. Only the operator may read the descriptions in
 * this readiness.
 */

export interface MetricsServerDeps {
  /** The metrics in Prometheus's text format. */
  readonly metrics: () => Promise<string>;
  readonly readiness: () => Promise<object>;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Log;
}

interface MetricsAddress {
  readonly metricsHost: string;
  /** Undefined: the default port, which may be taken. */
  readonly metricsPort: number | undefined;
}

const DEFAULT_PORT = 9464;
/** A scraper needs only one connection. The process reserves the other file descriptors and the memory for clients. */
const LIMITS: ConnectionLimits = {
  connectionsMax: 16,
  heldBytesMax: 1024 * 1024,
  because: 'These are connections for metrics: one scraper is enough.',
};
const REQUEST_TIMEOUT_MS = 5_000;

/**
 * Resolves when the server listens. The default port may be taken, because many machines run two processes: then this
 * process serves no metrics, and the result is undefined.
 *
 * @throws AppError `invalid_configuration` when the configured port is taken
 */
export async function openMetricsServer(
  deps: MetricsServerDeps,
  { metricsHost: host, metricsPort }: MetricsAddress,
): Promise<Server | undefined> {
  const port = metricsPort ?? DEFAULT_PORT;
  try {
    return await start(deps, host, port);
  } catch (error) {
    if (systemCode(error) !== 'EADDRINUSE' || metricsPort !== undefined) {
      const settings = { host: 'METRICS_HOST', port: 'METRICS_PORT' };
      throw explainListenError(error, { host, port, settings });
    }
    deps.log.warn(
      { port },
      'the metrics port is taken, so no metrics are served; set METRICS_PORT to a free port',
    );
    return undefined;
  }
}

async function start(deps: MetricsServerDeps, host: string, port: number): Promise<Server> {
  const { clock, log } = deps;
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    // Discards the body: its chunks would take many times as much memory as the client sends.
    request.resume();
    respond(deps, request, response).catch((error: unknown) => {
      log.error({ err: error }, 'metrics could not be rendered');
      response.writeHead(500).end();
    });
  };
  const connections = createConnections({ limits: LIMITS, bodyBytesMax: 0, clock, log });
  const server = connections.createServer(answer, { requestTimeout: REQUEST_TIMEOUT_MS });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  return server;
}

async function respond(
  { metrics, readiness }: MetricsServerDeps,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const [path] = request.url?.split('?') ?? [];
  if (path === '/readyz') {
    const document = JSON.stringify(await readiness());
    response.writeHead(200, { 'content-type': 'application/json; charset=utf-8' }).end(document);
  } else if (path === '/metrics') {
    const text = await metrics();
    response.writeHead(200, { 'content-type': Registry.PROMETHEUS_CONTENT_TYPE }).end(text);
  } else response.writeHead(404).end();
}
