import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createKnownVersions } from '../../src/app/known-versions.ts';
import { release, setStatus } from '../http/support.ts';
import { createTestService, type TestService } from '../support/service.ts';

describe('the versions that counts tell apart', () => {
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
    const isKnown = createKnownVersions(service.app.catalog);
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
});
