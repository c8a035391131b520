import { Counter, type Registry } from 'prom-client';
import { type Counts, DOWNLOAD_KINDS } from '../../usage/counts.ts';
import type { Usage } from '../../usage/usage.ts';

/** Checks, offers and links by version, for Prometheus. The names and the number of series are bounded: see `Usage`. */

const METRICS: Readonly<
  Record<Exclude<keyof Counts, 'downloads'>, { readonly name: string; readonly help: string }>
> = {
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
  new Counter({
    name: 'slipway_downloads_total',
    help: 'Downloads that the service saw, by kind and by the version of the file. A fallback is a differential download that failed, so that the client asked for the whole file. Of a download that is not known, the service cannot tell the kind: several clients may share a network address. Kinds fallback and not_known count as differential too.',
    labelNames: ['app', 'channel', 'platform', 'version', 'kind'],
    registers: [registry],
    async collect() {
      const series = await usage.series();
      this.reset();
      for (const { application: app, channel, platform, version, downloads } of series) {
        if (downloads === undefined) continue;
        for (const kind of DOWNLOAD_KINDS) {
          this.inc({ app, channel, platform, version, kind }, downloads[kind] ?? 0);
        }
      }
    },
  });
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
