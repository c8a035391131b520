import { createServer, type Server } from 'node:http';
import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Catalog } from '../catalog/catalog.ts';
import type { Clock } from '../clock.ts';
import type { App } from './deps.ts';

/** For Prometheus, on an address of its own: counts of the process, nothing about a person. */

export function createMetrics(deps: {
  readonly catalog: Catalog;
  readonly clock: Clock;
}): Registry {
  const registry = new Registry();
  new Gauge({
    name: 'slipway_catalog_revision',
    help: 'The catalog revision that answers come from.',
    labelNames: ['app'],
    registers: [registry],
    collect() {
      for (const [app, { revision }] of Object.entries(deps.catalog.health().applications)) {
        this.set({ app }, revision);
      }
    },
  });
  new Gauge({
    name: 'slipway_catalog_age_seconds',
    help: 'Since the store last confirmed the catalog.',
    labelNames: ['app'],
    registers: [registry],
    collect() {
      for (const [app, health] of Object.entries(deps.catalog.health().applications)) {
        this.set({ app }, (deps.clock.now() - (health.confirmedAt ?? 0)) / 1000);
      }
    },
  });
  new Gauge({
    name: 'slipway_catalog_problems',
    help: 'Stored documents that cannot be used, and failures of the store; the log says which.',
    labelNames: ['app'],
    registers: [registry],
    collect() {
      for (const [app, { problems }] of Object.entries(deps.catalog.health().applications)) {
        this.set({ app }, problems.length);
      }
    },
  });
  return registry;
}

/** Observes every request of the application by route and status. */
export function countRequests(app: App, registry: Registry): void {
  const duration = new Histogram({
    name: 'slipway_http_request_duration_seconds',
    help: 'From the first byte of a request to the last of its answer.',
    labelNames: ['route', 'method', 'status'],
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5],
    registers: [registry],
  });
  app.addHook('onResponse', (request, reply, done) => {
    // Routes, not addresses: strangers choose addresses, and every label costs memory.
    const route = request.routeOptions.url ?? 'none';
    const status = String(reply.statusCode);
    duration.observe({ route, method: request.method, status }, reply.elapsedTime / 1000);
    done();
  });
}

/** Serves `GET /metrics`, with the process's own figures; resolves once it listens. */
export async function startMetricsServer(
  registry: Registry,
  address: { readonly host: string; readonly port: number },
): Promise<Server> {
  collectDefaultMetrics({ register: registry });
  const server = createServer((request, response) => {
    if (request.url?.split('?')[0] !== '/metrics') {
      response.writeHead(404).end();
      return;
    }
    registry.metrics().then(
      (text) => response.writeHead(200, { 'content-type': registry.contentType }).end(text),
      () => response.writeHead(500).end(),
    );
  });
  server.requestTimeout = 5_000;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(address.port, address.host, resolve);
  });
  return server;
}
