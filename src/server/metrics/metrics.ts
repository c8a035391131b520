import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { Catalog } from '../../catalog/live/catalog.ts';
import type { Clock } from '../../core/clock.ts';
import type { Usage } from '../../usage/usage.ts';
import type { NoteRequest } from '../http/answered-requests.ts';
import type { Connections } from '../limits/connections.ts';
import { measureCatalog } from './catalog-metrics.ts';
import { measureUsage } from './usage-metrics.ts';

/**
 * Metrics of this process for Prometheus. They contain nothing about users. The primary process adds up the metrics of
 * several workers, unless `aggregator` names another calculation.
 */

export function createMetrics(deps: {
  /** The registry has the store's metrics already, because the service opens the store first. */
  readonly registry: Registry;
  readonly build: { readonly version: string; readonly node: string };
  readonly catalog: Catalog;
  /** The clock shows the store's time. */
  readonly clock: Clock;
  readonly connections: Pick<Connections, 'counts'>;
  readonly usage: Pick<Usage, 'series'>;
}): void {
  const { registry, build } = deps;
  new Gauge({
    name: 'slipway_build_info',
    help: 'The versions of Slipway and Node; always 1.',
    aggregator: 'max',
    labelNames: ['version', 'node'],
    registers: [registry],
  }).set({ ...build }, 1);
  measureCatalog(registry, deps);
  measureConnections(registry, deps.connections);
  measureUsage(registry, deps.usage);
}

function measureConnections(registry: Registry, connections: Pick<Connections, 'counts'>): void {
  const registers = [registry];
  new Gauge({
    name: 'slipway_http_connections',
    help: 'Client connections: open, and the maximum.',
    labelNames: ['kind'],
    registers,
    collect() {
      const { open, max } = connections.counts();
      this.set({ kind: 'open' }, open);
      this.set({ kind: 'max' }, max);
    },
  });
  new Gauge({
    name: 'slipway_http_held_bytes',
    help: 'Memory held for clients that do not read their answers or do not finish their requests.',
    registers,
    collect() {
      this.set(connections.counts().heldBytes);
    },
  });
  new Counter({
    name: 'slipway_http_connections_refused_total',
    help: 'Connections refused because of the limit. The log says how to raise it.',
    registers,
    collect() {
      this.reset();
      this.inc(connections.counts().refused);
    },
  });
  new Counter({
    name: 'slipway_http_connections_cut_total',
    help: 'Connections that the server closed: out of memory, read too slowly, or idle.',
    labelNames: ['reason'],
    registers,
    collect() {
      this.reset();
      for (const [reason, count] of Object.entries(connections.counts().cut)) {
        this.inc({ reason }, count);
      }
    },
  });
}

/**
 * Measures requests by route, method and status.
 *
 * @returns a function that takes a route, and returns the function that measures its requests
 */
export function measureRequests(registry: Registry): (route: string) => NoteRequest {
  const duration = new Histogram({
    name: 'slipway_http_request_duration_seconds',
    help: 'From the arrival of the headers of a request to the last byte of its answer.',
    labelNames: ['route', 'method', 'status'],
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5],
    registers: [registry],
  });
  return (route) => createObserver(duration, route);
}

type RequestDuration = Histogram<'route' | 'method' | 'status'>;

/**
 * Measures the requests of a route. It looks each combination of labels up only once, because the lookup costs more
 * than counting.
 */
function createObserver(duration: RequestDuration, route: string): NoteRequest {
  const byMethod = new Map<
    string,
    Map<number, Histogram.Internal<'route' | 'method' | 'status'>>
  >();
  return ({ method, status, durationMs }) => {
    const byStatus = byMethod.get(method) ?? new Map();
    byMethod.set(method, byStatus);
    const child = byStatus.get(status) ?? duration.labels(route, method, String(status));
    byStatus.set(status, child);
    child.observe(durationMs / 1000);
  };
}
