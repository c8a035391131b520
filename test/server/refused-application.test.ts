import { afterAll, beforeAll, expect, it } from 'vitest';
import { freshnessPrefix } from '../../src/catalog/documents/keys.ts';
import { systemClock } from '../../src/core/system.ts';
import { ask } from '../../src/features/doctor/ask-over-http.ts';
import { checkServedStates } from '../../src/features/doctor/diagnose/signed-states.ts';
import { detailedReadiness } from '../../src/server/health.ts';
import { renderMetrics } from '../../src/server/metrics/render-metrics.ts';
import { createMemoryStore } from '../../src/store/memory.ts';
import { listKeys } from '../support/objects.ts';
import { makeArtifact, makeTemporaryDirectory } from '../support/release.ts';
import { createTestService, type TestService } from '../support/service.ts';
import { createSignedService, type SignedService } from '../support/signed-service.ts';
import { check, get } from './support.ts';

/** A service on a restored copy of a store, which has no timestamp: every place says that clients get no answer. */

const REFUSAL =
  /^The signed state of desktop is not known to be new: .* runs "slipway trust renew"\.$/;
const temporary = await makeTemporaryDirectory();
let original: SignedService;
let service: TestService;

beforeAll(async () => {
  const store = createMemoryStore({ clock: systemClock });
  original = await createSignedService({ store });
  await original.publish({
    version: '1.0.0',
    artifacts: [await makeArtifact(temporary.path, { filename: 'App.exe' })],
  });
  for (const key of await listKeys(store, freshnessPrefix('desktop'))) await store.delete(key);
  service = await createTestService({ store, env: { TRUST_ROOT: original.rootFile } });
});
afterAll(async () => {
  await Promise.all([service.close(), original.close()]);
  await temporary.remove();
});

it('answers check-update with 503', async () => {
  const { status, body } = await check(service, {});
  expect([status, body]).toMatchObject([503, { detail: expect.stringMatching(REFUSAL) }]);
});

it('is not ready, and /readyz says why to everybody', async () => {
  const { status, body } = await get(service, '/readyz');
  expect(status).toBe(503);
  expect(body).toMatchObject({
    catalogs: {
      desktop: { source: 'live', problems_count: 1, refusal: expect.stringMatching(REFUSAL) },
    },
  });
  const { document } = detailedReadiness({ catalog: service.app.catalog, clock: systemClock });
  expect(document.catalogs.desktop?.problems).toEqual([
    expect.stringMatching(/slipway trust renew.*Clients have got no answer since 2/),
  ]);
});

it('has metrics of the refusal', async () => {
  const text = await renderMetrics(service.app.metrics);
  expect(text).toContain(
    'slipway_trust_expiry_timestamp_seconds{app="desktop",what="timestamp"} 0\n',
  );
  expect(text).toContain('slipway_catalog_problems{app="desktop"} 1\n');
});

it('has a status of a major outage', async () => {
  const { body } = await get(service, '/api/v1/system/status');
  expect(body).toMatchObject({ status: { indicator: 'critical' } });
});

it('fails the check of doctor --url', async () => {
  const deps = { ask, clock: systemClock, version: '0', catalogs: undefined };
  const asked = (url: string) => checkServedStates({ ...deps, url, application: 'desktop' });
  expect(await asked(await service.listen())).toMatchObject({
    outcome: 'failed',
    detail: expect.stringMatching(REFUSAL),
    remedy: expect.stringContaining('slipway trust renew'),
  });
  // A proxy may keep /readyz for itself.
  const behindProxy: typeof ask = (url, question) =>
    ask(url.endsWith('/readyz') ? `${url}/nothing` : url, question);
  const url = await service.listen();
  const behind = { ...deps, ask: behindProxy, url, application: 'desktop' };
  expect(await checkServedStates(behind)).toMatchObject({
    outcome: 'failed',
    detail: expect.stringMatching(REFUSAL),
  });
  expect(await asked(await original.service.listen())).toMatchObject({ outcome: 'ok' });
});
