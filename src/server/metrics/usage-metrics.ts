import { Counter, type Registry } from 'prom-client';
import type { Counts } from '../../usage/counts.ts';
import type { Usage } from '../../usage/usage.ts';

/** Checks, offers and links by version, for Prometheus. The names and the number of series are bounded: see `Usage`. */

const METRICS: Readonly<Record<keyof Counts, { readonly name: string; readonly help: string }>> = {
  checks: {
    name: 'slipway_checks_total',
    help: 'Checks for updates that were answered, by the version that the client runs.',
  },
  offers: {
    name: 'slipway_offers_total',
    help: 'Answers that offered an update, by the offered version.',
  },
  links: {
    name: 'slipway_links_total',
    help: 'Links to files that were handed out, by the version of the file.',
  },
};

export function measureUsage(registry: Registry, usage: Pick<Usage, 'series'>): void {
  for (const kind of ['checks', 'offers', 'links'] as const) {
    new Counter({
      ...METRICS[kind],
      labelNames: ['app', 'channel', 'platform', 'version'],
      registers: [registry],
      async collect() {
        const series = await usage.series();
        this.reset();
        // The metrics also state a series with 0, because a query that divides links by offers needs both series.
        for (const { application: app, channel, platform, version, ...counts } of series) {
          this.inc({ app, channel, platform, version }, counts[kind]);
        }
      },
    });
  }
}
