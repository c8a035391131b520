import { createHash } from 'node:crypto';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FilledStore, fillDemoStore } from '../../../src/features/demo/fill-demo-store.ts';
import { createMemoryStore } from '../../../src/store/memory.ts';
import type { ObjectStore } from '../../../src/store/object-store.ts';
import { type Finished, json, slipway } from '../../cli/support.ts';
import { createFixedClock } from '../../support/clock.ts';
import { openDirectoryStore } from '../../support/directory-store.ts';
import { makeTemporaryDirectory } from '../../support/release.ts';
import { createTestService } from '../../support/service.ts';

const APPLICATIONS = ['desktop', 'notes', 'studio'];

let temporary: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
let filled: Finished;

const data = (): string => path.join(temporary.path, 'data', 'demo-store');
/** Runs a command on the filled store. */
const on = (...words: string[]): Promise<Finished> =>
  slipway(words, { cwd: temporary.path, env: { DATA_DIR: data() } });

/** The hash of each object. */
async function contentOf(store: ObjectStore): Promise<ReadonlyMap<string, string>> {
  const hashes = new Map<string, string>();
  for await (const { key } of store.list('')) {
    const object = await store.get(key);
    hashes.set(
      key,
      createHash('sha256')
        .update(object?.body ?? '')
        .digest('hex'),
    );
  }
  return hashes;
}

beforeAll(async () => {
  temporary = await makeTemporaryDirectory();
  // Settings that name a bucket are not for this command.
  const env = { OBJECT_STORE: 's3', S3_BUCKET: 'releases' };
  filled = await slipway(['demo', '--store'], { cwd: temporary.path, env });
}, 60_000);

afterAll(() => temporary.remove());

describe('slipway demo --store', () => {
  it('says what it made, and which commands show it', () => {
    expect([filled.code, filled.stderr]).toEqual([0, '']);
    const place = `.${path.sep}${path.join('data', 'demo-store')}`;
    expect(filled.stdout).toContain(`Filled the store in ${place} with demo data since `);
    for (const command of ['serve', 'console', 'releases', 'stats']) {
      expect(filled.stdout).toContain(`DATA_DIR=${place} slipway ${command} `);
    }
  });

  it('gives them the names that its summary states', async () => {
    const { apps } = json(await on('apps', '--json'));
    const names = apps.map(
      ({ app, settings }: { app: string; settings: { display_name: string } }) =>
        `${app}: ${settings.display_name}`,
    );
    expect(names.sort()).toEqual(['desktop: Harbor', 'notes: Fieldnotes', 'studio: Atelier']);
  });

  it('makes three applications with about thirty releases', async () => {
    const listed = await Promise.all(
      APPLICATIONS.map(async (app) => json(await on('releases', '--app', app, '--json'))),
    );
    const versions = listed.map(({ releases, drafts }) => {
      const all: { version: string }[] = [...releases, ...drafts];
      return new Set(all.map(({ version }) => version)).size;
    });
    // Two more were dropped by a channel that keeps three.
    expect(versions).toEqual([14, 8, 9]);
  });

  it('has a rollout under way, a frozen one, a yank, a pause and a draft', async () => {
    const { stdout } = await on('releases');
    expect(stdout).toMatch(/^4\.1\.0 +stable +active +40% /m);
    expect(stdout).toMatch(/^4\.2\.0-beta\.1 +beta +paused /m);
    expect(stdout).toMatch(/^4\.1\.1 +stable +draft .* waits for macos-arm64, macos-x64 /m);
    expect(stdout).toMatch(/^3\.9\.1 +stable +yanked .*\(HRB-2213\)\.$/m);
    const frozen = await on('rollout', '2.4.0', '--app', 'notes');
    expect(frozen.stdout).toMatch(/^stable +active +25% +frozen$/m);
    const rolledBack = await on('history', '--app', 'studio');
    expect(rolledBack.stdout).toMatch(/rollback yanks 1\.8\.0 /);
  });

  it('counts six weeks, in which a release is adopted and week-ends are quieter', async () => {
    const stats = json(await on('stats', '4.0.1', '--days', '42', '--json'));
    const days: { day: string; checks: number; percent: number | null }[] = stats.by_day;
    expect(days).toHaveLength(42);
    const shares = days.map(({ percent }) => percent ?? 0);
    expect(shares[0]).toBe(0);
    expect(Math.max(...shares)).toBeGreaterThan(80);
    // After the first two weeks, each Saturday has fewer checks than the Thursday before it.
    const quieter = days.slice(-14, -1).flatMap(({ day, checks }, index) => {
      const isSaturday = new Date(day).getUTCDay() === 6;
      return isSaturday ? [checks < (days.at(-14 + index - 2)?.checks ?? 0) * 0.7] : [];
    });
    expect(quieter.length).toBeGreaterThan(0);
    expect(quieter).not.toContain(false);
    const all = json(await on('stats', '--days', '42', '--json'));
    expect(all.checks).toBeGreaterThan(500_000);
  });

  it('is sound, and doctor has nothing to say', async () => {
    for (const app of APPLICATIONS) {
      const { code, stdout } = await on('verify', '--deep', '--app', app);
      expect([code, stdout]).toEqual([0, expect.stringMatching(/: sound\.\n$/)]);
    }
    const doctor = await on('doctor');
    expect([doctor.code, doctor.stdout]).toEqual([0, expect.stringContaining('Everything works.')]);
  });

  it('is served', async () => {
    const service = await createTestService({ env: { DATA_DIR: data() } });
    try {
      const { body } = await service.app.http.inject({
        method: 'POST',
        url: '/api/v1/desktop/check-update',
        payload: { current_version: '3.9.2', platform: 'windows', arch: 'x64' },
      });
      // Through the stepping stone.
      expect(JSON.parse(body)).toMatchObject({ update_available: true, version: '3.10.0' });
    } finally {
      await service.close();
    }
  });

  it('refuses a store with applications, and changes nothing', async () => {
    const store = await openDirectoryStore(path.join(data(), 'objects'));
    const before = await contentOf(store);
    const again = await on('demo', '--store');
    expect(again.code).toBe(3);
    expect(again.stderr).toContain('The store already has applications: desktop, studio, notes.');
    expect(await contentOf(store)).toEqual(before);
  });
});

const ENDS_AT = Date.parse('2026-11-21T09:30:00Z');

const fill = (store: ObjectStore, seed: number): Promise<FilledStore> =>
  fillDemoStore({ store, sleep: createFixedClock().sleep }, { endsAt: ENDS_AT, seed });

it('fills two stores alike, with the same seed and end', async () => {
  const [one, two, other] = await Promise.all(
    [7, 7, 8].map(async (seed) => {
      const store = createMemoryStore({ clock: createFixedClock() });
      await fill(store, seed);
      return contentOf(store);
    }),
  );
  expect(one?.size).toBeGreaterThan(300);
  expect(one).toEqual(two);
  expect(one).not.toEqual(other);
}, 60_000);
