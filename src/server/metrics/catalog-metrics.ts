import { Gauge, type Registry } from 'prom-client';
import type { Catalog } from '../../catalog/live/catalog.ts';
import type { Clock } from '../../core/clock.ts';
import { runInTurns } from '../../core/run-in-turns.ts';
import type { Steps } from '../../core/steps.ts';
import { ALL_CLIENTS } from '../../domain/rollout.ts';
import { findUnserved } from '../../domain/unserved-visitors.ts';
import { createRolloutLister } from './list-rollouts.ts';
import { usableSnapshots } from './usable-snapshots.ts';

/**
 * The state of the catalog in memory, for Prometheus. With several workers, the metrics state the catalog of the worker
 * that is furthest behind.
 */

type Snapshot = ReturnType<ReturnType<Catalog['application']>['snapshot']>;

interface CatalogMetricsDeps {
  readonly catalog: Pick<Catalog, 'health' | 'application'>;
  /** The clock shows the store's time. */
  readonly clock: Pick<Clock, 'now'>;
}

export function measureCatalog(registry: Registry, deps: CatalogMetricsDeps): void {
  const { catalog, clock } = deps;
  const registers = [registry];
  const healths = () => Object.entries(catalog.health().applications);
  new Gauge({
    name: 'slipway_ready',
    help: 'Whether a catalog can answer clients, 1 or 0, as /readyz says.',
    aggregator: 'min',
    registers,
    collect() {
      this.set(catalog.health().ready ? 1 : 0);
    },
  });
  new Gauge({
    name: 'slipway_catalog_revision',
    help: 'The catalog revision that answers are based on.',
    aggregator: 'min',
    labelNames: ['app'],
    registers,
    collect() {
      for (const [app, { revision }] of healths()) this.set({ app }, revision);
    },
  });
  new Gauge({
    name: 'slipway_catalog_age_seconds',
    help: 'Time since the store last confirmed the catalog.',
    aggregator: 'max',
    labelNames: ['app'],
    registers,
    collect() {
      for (const [app, { confirmedAt }] of healths()) {
        this.set({ app }, (clock.now() - (confirmedAt ?? 0)) / 1000);
      }
    },
  });
  new Gauge({
    name: 'slipway_catalog_from_saved_state',
    help: 'Whether clients are answered from the state that an earlier process saved on disk, 1 or 0.',
    aggregator: 'max',
    labelNames: ['app'],
    registers,
    collect() {
      for (const [app, { source }] of healths()) this.set({ app }, source === 'saved' ? 1 : 0);
    },
  });
  new Gauge({
    name: 'slipway_catalog_problems',
    help: 'Unusable stored documents and failures of the store; without app: those of the list of applications. The log names them.',
    aggregator: 'max',
    labelNames: ['app'],
    registers,
    collect() {
      this.set({}, catalog.health().problems.length);
      for (const [app, { problems }] of healths()) this.set({ app }, problems.length);
    },
  });
  new Gauge({
    name: 'slipway_catalog_fullness_ratio',
    help: 'How full the catalog is, from 0 to 1: at 1, no release can be published.',
    aggregator: 'max',
    labelNames: ['app'],
    registers,
    async collect() {
      const found = await eachSnapshot(catalog, (app, { revision: { fullness } }) => [
        { app, fullness },
      ]);
      this.reset();
      for (const { app, fullness } of found) this.set({ app }, fullness);
    },
  });
  new Gauge({
    name: 'slipway_trust_expiry_timestamp_seconds',
    help: 'When the newest root of trust and the newest signed timestamp expire; Unix time. 0: there is no timestamp.',
    aggregator: 'min',
    labelNames: ['app', 'what'],
    registers,
    collect() {
      for (const [app, { expiries }] of healths()) {
        for (const [what, at] of Object.entries(expiries ?? {})) {
          if (at !== undefined) this.set({ app, what }, at / 1000);
        }
      }
    },
  });
  measureRollouts(registry, deps);
  measureVisitors(registry, deps);
  measureDrafts(registry, deps);
}

function measureVisitors(registry: Registry, { catalog, clock }: CatalogMetricsDeps): void {
  new Gauge({
    name: 'slipway_visitors_without_release',
    help: 'Always 1: a channel that had a release offers none to every client, so that new visitors get nothing. platform is empty for all platforms.',
    aggregator: 'max',
    labelNames: ['app', 'channel', 'platform'],
    registers: [registry],
    async collect() {
      const found = await eachSnapshot(catalog, (app, { channels }) =>
        findUnserved(channels, clock.now()).map((unserved) => ({ app, ...unserved })),
      );
      this.reset();
      for (const { app, channel, platform } of found) {
        this.set({ app, channel, platform: platform ?? '' }, 1);
      }
    },
  });
}

/**
 * The largest number of series. There is a series for each channel with a draft, and no operator looks at more series
 * than this.
 */
const DRAFT_SERIES_MAX = 1_000;

function measureDrafts(registry: Registry, { catalog, clock }: CatalogMetricsDeps): void {
  new Gauge({
    name: 'slipway_draft_age_seconds',
    help: 'The age of the oldest draft of a channel, by what offers it: its last expected build, or a command.',
    aggregator: 'max',
    labelNames: ['app', 'channel', 'opens'],
    registers: [registry],
    async collect() {
      const ages = await eachSnapshot(catalog, (app, { revision }) =>
        oldestDrafts(app, revision.drafts, clock.now()),
      );
      this.reset();
      for (const [labels, age] of ages.slice(0, DRAFT_SERIES_MAX)) this.set(labels, age);
    },
  });
}

function oldestDrafts(app: string, drafts: Snapshot['revision']['drafts'], now: number) {
  const ages = new Map<string, readonly [Record<'app' | 'channel' | 'opens', string>, number]>();
  for (const { channel, since, opens } of drafts) {
    const key = `${channel} ${opens}`;
    const age = Math.max(0, now - Date.parse(since)) / 1000;
    ages.set(key, [{ app, channel, opens }, Math.max(age, ages.get(key)?.[1] ?? 0)]);
  }
  return [...ages.values()];
}

/**
 * Reads the snapshots of all applications, and lets the process answer clients in between. Leaves out an application
 * whose catalog cannot be used: another metric counts its problems.
 *
 * A metric must reset its values only afterwards, so that two scrapes at once do not mix them.
 */
async function eachSnapshot<T>(
  catalog: CatalogMetricsDeps['catalog'],
  read: (app: string, snapshot: Snapshot) => readonly T[],
): Promise<readonly T[]> {
  const apps = Object.keys(catalog.health().applications);
  return runInTurns(readInSteps());

  function* readInSteps(): Steps<readonly T[]> {
    const found: T[] = [];
    for (const [app, snapshot] of usableSnapshots(catalog, apps)) {
      yield;
      found.push(...read(app, snapshot));
    }
    return found;
  }
}

function measureRollouts(registry: Registry, deps: CatalogMetricsDeps): void {
  const list = createRolloutLister(deps);
  new Gauge({
    name: 'slipway_rollout_percent',
    help: 'The share that the rollout of an offer has reached: of active offers below 100 %, and of paused ones.',
    aggregator: 'max',
    labelNames: ['app', 'channel', 'version', 'status'],
    registers: [registry],
    async collect() {
      const found = await runInTurns(list());
      this.reset();
      for (const { application: app, channel, version, status, share } of found) {
        this.set({ app, channel, version, status }, (share / ALL_CLIENTS) * 100);
      }
    },
  });
}
