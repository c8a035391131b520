import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createKnownVersions } from '../../../src/server/usage/known-versions.ts';
import { createTestService, type TestService } from '../../support/service.ts';
import { check, release, setStatus } from '../support.ts';

describe('the versions that are counted separately', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await createTestService();
    for (const version of ['1.0.0', '1.1.0', '1.2.0']) {
      await release(service, version, ['windows x64 nsis']);
    }
    await setStatus(service, 'yank', '1.1.0');
    await setStatus(service, 'retire', '1.0.0');
  });
  afterAll(() => service.close());

  it('are those of the catalog, withdrawn and retired ones included, and no others', async () => {
    const known = createKnownVersions(service.app.catalog, () => true);
    const isKnown = (application: string, version: string) => known(application, 'stable', version);
    const asked = ['1.0.0', '1.1.0', '1.2.0', '1.3.0', '0.0.1'];
    expect(asked.map((version) => isKnown('desktop', version))).toEqual([
      true,
      true,
      true,
      false,
      false,
    ]);
    expect(isKnown('nothing', '1.0.0')).toBe(false);
    await release(service, '1.3.0', ['windows x64 nsis']);
    expect(isKnown('desktop', '1.3.0')).toBe(true);
  });

  it('are not confirmed by public metrics when they are on a restricted channel', async () => {
    const env = {
      TIERS: '{"free":[],"pro":["channel:desktop/insider"]}',
      PUBLIC_GROUP_MIN: '1',
    };
    const restricted = await createTestService({ env });
    await release(restricted, '1.0.0', ['windows x64 nsis']);
    await release(restricted, '2.0.0-insider.1', ['windows x64 nsis'], { channel: 'insider' });
    for (const current_version of ['2.0.0-insider.1', '2.0.0-insider.2', '1.0.0']) {
      expect(await check(restricted, { current_version })).toMatchObject({ status: 200 });
    }
    const { versions } = restricted.app.usage.publicMetrics('desktop').shares;
    expect(versions.map(({ name }) => name).sort()).toEqual(['1.0.0', 'other']);
    await restricted.close();
  });

  it('are only those of open channels on an open channel', async () => {
    const insider = { channel: 'insider' };
    for (const version of ['2.0.0-insider.1', '2.0.0-insider.2']) {
      await release(service, version, ['windows x64 nsis'], insider);
    }
    await setStatus(service, 'retire', '2.0.0-insider.1', 'insider');
    const isKnown = createKnownVersions(
      service.app.catalog,
      (_application, channel) => channel !== 'insider',
    );
    for (const version of ['2.0.0-insider.1', '2.0.0-insider.2']) {
      expect(isKnown('desktop', 'stable', version), version).toBe(false);
      expect(isKnown('desktop', 'insider', version), version).toBe(true);
    }
    for (const version of ['1.0.0', '1.2.0']) {
      expect(isKnown('desktop', 'stable', version), version).toBe(true);
      expect(isKnown('desktop', 'insider', version), version).toBe(true);
    }
  });
});
