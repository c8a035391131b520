import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { AggregatorRegistry } from 'prom-client';
import { afterEach, describe, expect, it } from 'vitest';
import { REVISION_BYTES_MAX } from '../../../src/catalog/documents/revision-size.ts';
import { systemClock } from '../../../src/core/system.ts';
import { REASON_JSON_BYTES_MAX } from '../../../src/domain/reason.ts';
import { readMetrics, renderMetrics } from '../../../src/server/metrics/render-metrics.ts';
import { createMemoryStore } from '../../../src/store/memory.ts';
import { createHastyClock } from '../../support/clock.ts';
import { createFaultyStore } from '../../support/faulty-store.ts';
import { makeTemporaryDirectory } from '../../support/release.ts';
import {
  createTestService,
  type TestService,
  type TestServiceOptions,
} from '../../support/service.ts';
import { check, DOWNLOAD, get, release, setStatus } from '../support.ts';

const MACHINES = ['windows x64 nsis'];
const rollout = (text: string) => ({ rollout: { text, freezeWindows: [] } });

describe('the metrics of a service', () => {
  const closing: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });

  async function open(options: TestServiceOptions = {}): Promise<TestService> {
    const service = await createTestService(options);
    closing.push(() => service.close());
    return service;
  }

  async function openDirectory(): Promise<string> {
    const directory = await makeTemporaryDirectory();
    closing.push(() => directory.remove());
    return directory.path;
  }

  const linesOf = (text: string, name: string): string[] =>
    text
      .split('\n')
      .filter((line) => line.startsWith(name))
      .map((line) => line.slice(name.length).trim());
  const metric = async ({ app }: TestService, name: string): Promise<string[]> =>
    linesOf(await renderMetrics(app.metrics), name);

  it('state the versions of the package and of Node', async () => {
    const file = path.join(import.meta.dirname, '../../../package.json');
    const { version } = JSON.parse(readFileSync(file, 'utf8')) as { version: string };
    expect(await metric(await open(), 'slipway_build_info')).toEqual([
      `{version="${version}",node="${process.version}"} 1`,
    ]);
  });

  it('state the catalog: ready, live, without problems', async () => {
    const service = await open();
    await release(service, '1.0.0', MACHINES);
    expect(await metric(service, 'slipway_ready')).toEqual(['1']);
    expect(await metric(service, 'slipway_catalog_revision')).toEqual(['{app="desktop"} 1']);
    expect(await metric(service, 'slipway_catalog_from_saved_state')).toEqual([
      '{app="desktop"} 0',
    ]);
    expect(await metric(service, 'slipway_catalog_problems')).toEqual(['0', '{app="desktop"} 0']);
  });

  it('state a catalog from saved state, and the problem of the list of applications', async () => {
    const store = createFaultyStore(createMemoryStore({ clock: systemClock }));
    const options = { store, env: { DATA_DIR: await openDirectory() } };
    const before = await createTestService(options);
    await release(before, '1.0.0', MACHINES);
    // As its poll would: everything loaded and kept on disk.
    await before.app.catalog.start();
    const state = path.join(options.env.DATA_DIR, 'state');
    await expect.poll(() => readdirSync(state, { recursive: true }).join()).toContain('desktop');
    await before.close();
    store.goDown();
    const after = await open(options);
    expect(await metric(after, 'slipway_catalog_from_saved_state')).toEqual(['{app="desktop"} 1']);
    expect(await metric(after, 'slipway_catalog_problems')).toEqual([
      '1',
      expect.stringMatching(/^\{app="desktop"\} \d$/),
    ]);
    store.comeUp();
    await after.refresh();
    expect(await metric(after, 'slipway_catalog_from_saved_state')).toEqual(['{app="desktop"} 0']);
    expect(await metric(after, 'slipway_catalog_problems')).toEqual(['0', '{app="desktop"} 0']);
  });

  it('state a service that knows no catalog', async () => {
    const store = createFaultyStore(createMemoryStore({ clock: systemClock }));
    store.goDown();
    const service = await open({ store });
    expect(await metric(service, 'slipway_ready')).toEqual(['0']);
    expect(await metric(service, 'slipway_catalog_problems')).toEqual(['1']);
  });

  it('state rollouts until they are complete', async () => {
    const service = await open();
    await release(service, '1.0.0', MACHINES, rollout('100%'));
    await release(service, '1.1.0', MACHINES, rollout('2.5%'));
    await release(service, '1.2.0', MACHINES);
    await setStatus(service, 'pause', '1.2.0');
    const labels = 'app="desktop",channel="stable"';
    expect(await metric(service, 'slipway_rollout_percent')).toEqual([
      `{${labels},version="1.2.0",status="paused"} 100`,
      `{${labels},version="1.1.0",status="active"} 2.5`,
    ]);
    await setStatus(service, 'resume', '1.2.0');
    await setStatus(service, 'yank', '1.1.0');
    expect(await metric(service, 'slipway_rollout_percent')).toEqual([]);
  });

  it('state the channels that have no release for new visitors, until they have one', async () => {
    const service = await open();
    const NAME = 'slipway_visitors_without_release';
    await release(service, '1.0.0', MACHINES);
    expect(await metric(service, NAME)).toEqual([]);
    await setStatus(service, 'pause', '1.0.0');
    await release(service, '1.1.0', MACHINES, rollout('5%'));
    expect(await metric(service, NAME)).toEqual(['{app="desktop",channel="stable",platform=""} 1']);
    await setStatus(service, 'resume', '1.0.0');
    expect(await metric(service, NAME)).toEqual([]);
  });

  it('state how full the catalog is', async () => {
    const service = await open();
    const fullness = async () => {
      const [line = ''] = await metric(service, 'slipway_catalog_fullness_ratio');
      expect(line).toMatch(/^\{app="desktop"\} 0\.\d+$/);
      return Number(line.split(' ')[1]);
    };
    await release(service, '1.0.0', MACHINES);
    const before = await fullness();
    expect(before).toBeLessThan(0.01);
    await release(service, '1.1.0', MACHINES);
    const change = (await fullness()) - before;
    expect(change * REVISION_BYTES_MAX).toBeGreaterThan(REASON_JSON_BYTES_MAX);
    expect(change * REVISION_BYTES_MAX).toBeLessThan(2 * REASON_JSON_BYTES_MAX);
  });

  it('state how long drafts wait, and for what', async () => {
    const clock = createHastyClock();
    const service = await open({ clock });
    const expecting = { expect: [{ platform: 'macos', arch: 'arm64' }] as const };
    await release(service, '1.0.0', MACHINES);
    await release(service, '1.1.0', MACHINES, { mode: 'draft', ...expecting });
    await release(service, '1.2.0', MACHINES, expecting);
    clock.advance(2 * 3_600_000);
    await release(service, '1.3.0', MACHINES, expecting);
    const ages = async () =>
      (await metric(service, 'slipway_draft_age_seconds')).map((line) =>
        line.replace(/[\d.]+$/, (seconds) => `${Math.floor(Number(seconds) / 3600)} h`),
      );
    const labels = 'app="desktop",channel="stable"';
    expect(await ages()).toEqual([
      `{${labels},opens="on_command"} 2 h`,
      `{${labels},opens="when_complete"} 2 h`,
    ]);
    await release(service, '1.2.0', ['macos arm64 zip'], expecting);
    expect(await ages()).toEqual([
      `{${labels},opens="on_command"} 2 h`,
      `{${labels},opens="when_complete"} 0 h`,
    ]);
  });

  it('measure requests to the store, of which an anonymous client causes none', async () => {
    const service = await open({ store: 'directory' });
    await release(service, '1.0.0', MACHINES);
    const counts = () => metric(service, 'slipway_store_request_duration_seconds_count');
    const before = await counts();
    expect(before).toContainEqual(expect.stringMatching(/^\{operation="get",outcome="ok"\} \d+$/));
    for (let i = 0; i < 20; i++) {
      expect((await check(service, { current_version: '0.9.0' })).status).toBe(200);
      expect((await get(service, `${DOWNLOAD}/windows`)).status).toBe(302);
    }
    expect(await counts()).toEqual(before);
    await service.refresh();
    expect(await counts()).not.toEqual(before);
  });

  it('are those of one state, even when several scrapes and a change come at once', async () => {
    const service = await open();
    const labels = 'app="desktop",channel="stable"';
    await release(service, '1.0.0', MACHINES, rollout('10%'));
    await setStatus(service, 'pause', '1.0.0');
    const paused = {
      slipway_rollout_percent: [`{${labels},version="1.0.0",status="paused"} 10`],
      slipway_visitors_without_release: [`{${labels},platform=""} 1`],
    };
    const resumed = {
      slipway_rollout_percent: [`{${labels},version="1.0.0",status="active"} 10`],
      slipway_visitors_without_release: [`{${labels},platform=""} 1`],
    };
    const scrapes = [];
    const change = setStatus(service, 'resume', '1.0.0');
    for (let round = 0; round < 50; round++) {
      scrapes.push(renderMetrics(service.app.metrics));
      await new Promise(setImmediate);
    }
    await change;
    for (const text of await Promise.all(scrapes)) {
      for (const name of ['slipway_rollout_percent', 'slipway_visitors_without_release'] as const) {
        expect([paused[name], resumed[name]]).toContainEqual(linesOf(text, name));
      }
    }
    expect(await metric(service, 'slipway_rollout_percent')).toEqual(
      resumed.slipway_rollout_percent,
    );
  });

  it('of several workers are those of the worker that is furthest behind', async () => {
    const store = createFaultyStore(createMemoryStore({ clock: systemClock }));
    const first = await open({ store });
    await release(first, '1.0.0', MACHINES, rollout('10%'));
    store.goDown();
    const second = await open({ store });
    const both = [first, second].map(({ app }) => readMetrics(app.metrics));
    const answers = (await Promise.all(both)).map((metrics) => [...metrics]);
    const text = await AggregatorRegistry.aggregate(answers).metrics();
    expect(linesOf(text, 'slipway_ready')).toEqual(['0']);
    expect(linesOf(text, 'slipway_build_info')).toEqual([expect.stringMatching(/ 1$/)]);
    expect(linesOf(text, 'slipway_catalog_problems')).toEqual(['1', '{app="desktop"} 0']);
    expect(linesOf(text, 'slipway_rollout_percent')).toEqual([expect.stringMatching(/ 10$/)]);
  });
});
