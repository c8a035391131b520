import { AggregatorRegistry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTestService, type TestService } from '../../support/service.ts';
import { check, DOWNLOAD, get, release } from '../support.ts';

describe('the metrics of checks, offers and links', () => {
  let service: TestService;
  beforeEach(async () => {
    service = await createTestService();
    await release(service, '1.0.0', ['windows x64 nsis']);
    await release(service, '1.1.0', ['windows x64 nsis']);
  });
  afterEach(() => service.close());

  const metrics = async (of = service): Promise<string[]> =>
    (await of.app.metrics.metrics())
      .split('\n')
      .filter((line) => /^slipway_(checks|offers|links)_total/.test(line));

  it('have the labels app, channel, platform and version', async () => {
    await check(service, { current_version: '1.0.0' });
    await check(service, { current_version: '1.1.0' });
    await get(service, `${DOWNLOAD}/windows?version=1.1.0`);
    const labels = 'app="desktop",channel="stable",platform="windows"';
    expect(await metrics()).toEqual([
      `slipway_checks_total{${labels},version="1.0.0"} 1`,
      `slipway_checks_total{${labels},version="1.1.0"} 1`,
      `slipway_offers_total{${labels},version="1.0.0"} 0`,
      `slipway_offers_total{${labels},version="1.1.0"} 1`,
      `slipway_links_total{${labels},version="1.0.0"} 0`,
      `slipway_links_total{${labels},version="1.1.0"} 1`,
    ]);
    await check(service, { current_version: '1.0.0' });
    expect((await metrics())[0]).toMatch(/"1\.0\.0"} 2$/);
  });

  it('go on counting when the counts are flushed', async () => {
    for (let i = 1; i <= 3; i++) {
      await check(service, { current_version: '1.0.0' });
      await service.app.usage.refresh();
      expect((await metrics())[0]).toMatch(new RegExp(`"1\\.0\\.0"} ${i}$`));
    }
  });

  it('have no more series for what clients make up', async () => {
    const made = ['9.9.9', '1.0.1', '3.0.0-"}\n', 'x'.repeat(300)];
    for (let i = 0; i < 300; i++) made.push(`9.${i}.0`);
    for (const [i, version] of made.entries()) {
      await check(service, { current_version: version });
      await check(service, { current_version: version, channel: `c${i}` });
      await check(service, { current_version: version, platform: `p${i}` });
      await check(service, { current_version: version, app: `app${i}` });
      await get(service, `${DOWNLOAD}/windows?version=9.${i}.1&channel=c${i}`);
    }
    // 1.1.0 was offered to the client that claims to run 1.0.1.
    expect((await metrics()).map((line) => line.replace(/\{.*(version=.*)\}/, ' $1'))).toEqual([
      'slipway_checks_total version="other" 302',
      'slipway_checks_total version="1.1.0" 0',
      'slipway_offers_total version="other" 0',
      'slipway_offers_total version="1.1.0" 1',
      'slipway_links_total version="other" 0',
      'slipway_links_total version="1.1.0" 0',
    ]);
  });

  it('of several workers are added up', async () => {
    const other = await createTestService({ store: service.store });
    try {
      for (const each of [service, other, other]) await check(each, { current_version: '1.0.0' });
      const all = [service, other].map(({ app }) => app.metrics.getMetricsAsJSON());
      const text = await AggregatorRegistry.aggregate(await Promise.all(all)).metrics();
      expect(text).toMatch(/^slipway_checks_total\{.*version="1\.0\.0"\} 3$/m);
      expect(text).toMatch(/^slipway_offers_total\{.*version="1\.1\.0"\} 3$/m);
    } finally {
      await other.close();
    }
  });
});
