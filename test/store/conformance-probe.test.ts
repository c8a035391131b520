import { expect, it } from 'vitest';
import { AppError } from '../../src/core/errors.ts';
import { ensureConforming, probeConformance } from '../../src/store/conformance-probe.ts';
import { verdictKey } from '../../src/store/keys.ts';
import { createMemoryStore } from '../../src/store/memory.ts';
import type { ObjectStore } from '../../src/store/object-store.ts';
import { listKeys } from '../support/objects.ts';
import { startFakeS3 } from './s3/fake-s3.ts';

const clock = { now: () => 1_800_000_000_000, sleep: async () => undefined };
let ids = 0;
const randomness = { fraction: () => 0.5, id: () => `id-${ids++}` };
const memory = () => createMemoryStore({ clock });

it('accepts a good store and leaves only the verdict', async () => {
  const store = memory();
  expect(await probeConformance({ store, randomness })).toEqual({ conforming: true, findings: [] });
  expect(await listKeys(store)).toEqual([]);
  await ensureConforming({ store, randomness, clock });
  const keys = await listKeys(store);
  expect(keys).toEqual([verdictKey('memory:')]);
  const verdict = await store.get(keys[0] ?? '');
  expect(JSON.parse(Buffer.from(verdict?.body ?? []).toString())).toEqual({
    schema_version: 1,
    location: 'memory:',
    checked_at: '2027-01-15T08:00:00.000Z',
    findings: [],
  });
});

it('accepts a stored verdict, unless a fresh one is requested', async () => {
  const good = memory();
  await ensureConforming({ store: good, randomness, clock });
  let writes = 0;
  const create: ObjectStore['create'] = (key, body) => {
    writes += 1;
    return good.create(key, body);
  };
  const store: ObjectStore = { ...good, create };
  await ensureConforming({ store, randomness, clock });
  expect(writes).toBe(0);
  await ensureConforming({ store, randomness, clock, fresh: true });
  expect(writes).toBeGreaterThan(32);
});

it('probes again when the verdict is for another store or corrupt', async () => {
  for (const text of ['{"schema_version":1,"location":"elsewhere"}', 'nonsense']) {
    const store = memory();
    await store.create(verdictKey('memory:'), Buffer.from(text));
    const broken: ObjectStore = { ...store, create: async () => 'created' };
    const ensured = ensureConforming({ store: broken, randomness, clock });
    await expect(ensured).rejects.toMatchObject({ code: 'store_nonconforming' });
  }
});

it('accepts a store that answers lost races with an error', async () => {
  const store = memory();
  const create: ObjectStore['create'] = async (key, body) => {
    const outcome = await store.create(key, body);
    if (outcome === 'exists' && key.endsWith('race')) {
      throw new AppError('store_unavailable', 'InternalError');
    }
    return outcome;
  };
  const verdict = await probeConformance({ store: { ...store, create }, randomness });
  expect(verdict.conforming).toBe(true);
});

it('refuses a store that checks the condition before the write, but not atomically', async () => {
  const store = memory();
  const bodies = new Map<string, Buffer>();
  const racy: ObjectStore = {
    ...store,
    async create(key, body) {
      if (bodies.has(key)) {
        return 'exists';
      }
      await new Promise((resolve) => setTimeout(resolve, 5));
      bodies.set(key, Buffer.from(body));
      return 'created';
    },
    async get(key) {
      const body = bodies.get(key);
      return body && { key, body, size: body.length, etag: '""', lastModified: new Date() };
    },
  };
  const { findings } = await probeConformance({ store: racy, randomness });
  expect(findings).toEqual([
    'The store told 32 of 32 concurrent writers of one key that they created it.',
  ]);
});

it('refuses an S3 service that ignores the condition, and one that does not implement it', async () => {
  const ignoring = await startFakeS3(({ answer, request }) => {
    delete request.headers['if-none-match'];
    answer();
  });
  const ensured = ensureConforming({
    // A request that is given up here would still reach the server, after its objects were deleted.
    store: ignoring.store({ timeouts: { writeMs: 20_000 } }),
    randomness,
    clock,
  });
  await expect(ensured).rejects.toMatchObject({
    code: 'store_nonconforming',
    message: expect.stringMatching(
      /The store created a second object under a taken key\. .*, Wasabi and Garage ignore /,
    ),
  });
  expect([...ignoring.objects.keys()]).toEqual([]);
  const refusing = await startFakeS3(({ answer, fail, request }) =>
    request.headers['if-none-match'] ? fail(501, 'NotImplemented') : answer(),
  );
  await expect(
    ensureConforming({ store: refusing.store(), randomness, clock }),
  ).rejects.toMatchObject({ code: 'store_nonconforming' });
});
