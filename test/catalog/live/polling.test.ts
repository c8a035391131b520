import { afterAll, describe, expect, it } from 'vitest';
import { findDownload } from '../../../src/answers/download/find-download.ts';
import { DEFAULT_TIERS } from '../../../src/domain/tier.ts';
import { createDownloadLinks } from '../../../src/store/download-links.ts';
import { makeArtifact, makeTemporaryDirectory, publish } from '../../support/release.ts';
import { query } from '../../support/update-query.ts';
import { bulkPublish } from '../bulk-publish.ts';
import { createWorld, offered, POLL_MS, useCatalogs } from './live-catalog.ts';

const temporary = await makeTemporaryDirectory();
afterAll(() => temporary.remove());
const setup = await makeArtifact(temporary.path, { filename: 'App-Setup.exe' });
const catalogs = useCatalogs();

describe('a running catalog', () => {
  it('answers from a new revision within two poll intervals', async () => {
    const world = createWorld();
    await publish(world.parts, { version: '1.0.0', artifacts: [setup] });
    const catalog = await catalogs.start(world);
    expect(await offered(catalog)).toBe('1.0.0');
    for (let minor = 1; minor <= 20; minor++) {
      await publish(world.parts, { version: `1.${minor}.0`, artifacts: [setup] });
      await world.clock.advance(2 * POLL_MS);
      expect(await offered(catalog)).toBe(`1.${minor}.0`);
    }
    await publish(world.parts, { application: 'other', version: '3.0.0', artifacts: [setup] });
    await world.clock.advance(4 * POLL_MS);
    expect(await offered(catalog, 'other')).toBe('3.0.0');
  });

  it('logs once that hints cannot be read, and finds changes in turn', async () => {
    const world = createWorld();
    await publish(world.parts, { version: '1.0.0', artifacts: [setup] });
    const catalog = await catalogs.start(world);
    world.store.setPlan(({ key }) =>
      key.startsWith('changes/') ? { when: 'before', code: 'store_denied' } : undefined,
    );
    await publish(world.parts, { version: '1.1.0', artifacts: [setup] });
    await world.clock.advance(60_000);
    expect(await offered(catalog)).toBe('1.1.0');
    expect(world.log).toHaveLength(1);
    expect(world.log[0]).toMatch(/^cannot read hints of changes/);
  });

  it('serves the old revision until all of the new one is verified', async () => {
    const world = createWorld();
    await publish(world.parts, { version: '1.0.0', artifacts: [setup] });
    const catalog = await catalogs.start(world);
    await publish(world.parts, { version: '2.0.0', artifacts: [setup] });
    world.store.setPlan(({ key }) =>
      key.includes('/releases/2.0.0/') ? { when: 'before' } : undefined,
    );
    await world.clock.advance(60_000);
    expect(await offered(catalog)).toBe('1.0.0');
    expect(catalog.health().applications.desktop).toMatchObject({
      revision: 1,
      storeFailing: true,
    });
    world.store.setPlan(undefined);
    await world.clock.advance(60_000);
    expect(await offered(catalog)).toBe('2.0.0');
    expect(catalog.health().applications.desktop).toMatchObject({ revision: 2, problems: [] });
  });

  it('costs the same for any number of applications', async () => {
    const world = createWorld();
    for (const application of ['desktop', 'second', 'third']) {
      await publish(world.parts, { application, version: '1.0.0', artifacts: [setup] });
    }
    await catalogs.start(world);
    await world.clock.advance(POLL_MS);
    world.store.forgetCalls();
    const intervals = 100;
    await world.clock.advance(intervals * POLL_MS);
    console.log(
      `idle catalog of 3 applications: ${world.store.total()} store requests in ${intervals} poll intervals`,
    );
    // Once a minute each application's newest revision is looked for as well: is it still there?
    const minutes = Math.floor((intervals * POLL_MS) / 60_000);
    // Each interval: the next hint, and two of the list and the applications in turn.
    expect(world.store.total()).toBe(intervals * 3 + 3 * minutes);
    expect(world.store.counts).toMatchObject({ list: 0, head: 0, create: 0 });
  });

  it('answers invented application names without a store request', async () => {
    const world = createWorld();
    await publish(world.parts, { version: '1.0.0', artifacts: [setup] });
    const catalog = await catalogs.start(world);
    world.store.forgetCalls();
    const names = 1_000;
    for (let number = 0; number < names; number++) {
      const name = number % 2 === 0 ? `invented-${number}` : '../../etc';
      await expect(offered(catalog, name)).rejects.toMatchObject({ code: 'unknown_application' });
      await catalog.lookAgain(name);
    }
    expect(world.store.total()).toBe(0);
    expect(Object.keys(catalog.health().applications)).toEqual(['desktop']);
    console.log(`invented applications: ${names} names, ${world.store.total()} store requests`);
  });

  it('asks the store for an unknown version, at most once a second', async () => {
    const world = createWorld();
    await publish(world.parts, { version: '1.0.0', artifacts: [setup] });
    const catalog = await catalogs.start(world);
    const download = (version: string) =>
      findDownload(
        {
          catalog,
          tiers: DEFAULT_TIERS,
          clock: world.clock,
          links: createDownloadLinks(world.parts),
        },
        query({ currentVersion: null, purpose: 'download' }),
        { version, method: 'GET' },
        null,
      );
    await publish(world.parts, { version: '2.0.0', artifacts: [setup] });
    const { release } = await download('2.0.0');
    expect(release.version).toBe('2.0.0');
    await world.clock.advance(1_000);
    world.store.forgetCalls();
    const ask = async (version: string) => {
      await expect(download(version)).rejects.toMatchObject({ code: 'unknown_version' });
    };
    await Promise.all(Array.from({ length: 500 }, (_, number) => ask(`9.9.${number}`)));
    await ask('8.0.0');
    expect(world.store.total()).toBe(1);
    console.log(
      `unknown versions: 501 questions in a second, ${world.store.total()} store request`,
    );
  });

  it('with 1,000 offers answers after a few requests', async () => {
    const world = createWorld();
    await bulkPublish(world, 1_000);
    world.store.forgetCalls();
    const catalog = await catalogs.start(world);
    const requests = world.store.total();
    expect(await offered(catalog)).toBe('1.0.999');
    console.log(`start with 1,000 offers: ${requests} store requests before the first answer`);
    expect(requests).toBeLessThanOrEqual(20);
    await world.clock.advance(POLL_MS / 2);
  });
});
