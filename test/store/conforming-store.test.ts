import { describe, expect, it } from 'vitest';
import { createConformingStore } from '../../src/store/conforming-store.ts';
import { verdictKey } from '../../src/store/keys.ts';
import { createMemoryStore } from '../../src/store/memory.ts';
import type { ObjectStore } from '../../src/store/object-store.ts';
import { createFixedClock, createSeededRandomness } from '../support/clock.ts';
import { createFaultyStore } from '../support/faulty-store.ts';
import { listKeys, sourceOf } from '../support/objects.ts';

const BODY = Buffer.from('body');

function setUp(makeInner: (memory: ObjectStore) => ObjectStore = (memory) => memory) {
  const clock = createFixedClock();
  const memory = createMemoryStore({ clock });
  const raw = createFaultyStore(makeInner(memory));
  const open = () =>
    createConformingStore({ store: raw, clock, randomness: createSeededRandomness(1) });
  return { raw, memory, open, store: open(), keys: () => listKeys(memory) };
}

/** Overwrites objects, so that two writers could both create one object. */
function withoutConditions(memory: ObjectStore): ObjectStore {
  return {
    ...memory,
    create: async (key, body, options) => {
      await memory.delete(key);
      return memory.create(key, body, options);
    },
  };
}

describe('a store that is probed before the first write', () => {
  it('is not probed before reading, deleting and presigning', async () => {
    const { store, raw, keys } = setUp();
    expect(await store.get('a')).toBeUndefined();
    expect(await store.head('a')).toBeUndefined();
    expect(await store.read('a')).toBeUndefined();
    await store.delete('a');
    expect(await listKeys(store)).toEqual([]);
    await store.keepsVersions();
    await store.removeAbandonedUploads(new Date(0));
    expect(raw.counts.create).toBe(0);
    expect(await keys()).toEqual([]);
    expect(store.location).toBe(raw.location);
  });

  it('is probed once, also when many writes are the first ones', async () => {
    const { store, raw, keys } = setUp();
    const outcomes = await Promise.all(
      Array.from({ length: 10 }, (_, index) => store.create(`key-${index % 5}`, BODY)),
    );
    expect(outcomes.filter((outcome) => outcome === 'created')).toHaveLength(5);
    const creates = raw.counts.create;
    expect((await keys()).filter((key) => key.startsWith('probe/'))).toEqual([
      verdictKey(raw.location),
    ]);
    await store.create('another', BODY);
    expect(raw.counts.create).toBe(creates + 1);
    const source = sourceOf(BODY);
    expect(await store.upload('large', source)).toBe('created');
    expect(raw.counts.create).toBe(creates + 1);
  });

  it('is not probed when another process has stored a good verdict', async () => {
    const { store, open, raw } = setUp();
    await store.create('one', BODY);
    raw.forgetCalls();
    await open().create('two', BODY);
    expect(raw.total()).toBe(2);
  });

  it('is probed before an upload, too', async () => {
    const { store, keys, raw } = setUp();
    expect(await store.upload('large', sourceOf(BODY))).toBe('created');
    expect(await keys()).toContain(verdictKey(raw.location));
  });

  it('refuses every write when it ignores conditions', async () => {
    const { store, keys } = setUp(withoutConditions);
    for (let time = 0; time < 2; time++) {
      await expect(store.create('key', BODY)).rejects.toMatchObject({
        code: 'store_nonconforming',
        kind: 'forbidden',
      });
      await expect(store.upload('large', sourceOf(BODY))).rejects.toMatchObject({
        code: 'store_nonconforming',
      });
    }
    expect(await keys()).toEqual([]);
  });

  it('is probed again by the next write after a probe without an answer', async () => {
    const { store, raw, keys } = setUp();
    raw.goDown();
    const writes = [store.create('one', BODY), store.create('two', BODY)];
    for (const write of writes) {
      await expect(write).rejects.toMatchObject({ code: 'store_unavailable' });
    }
    expect(await keys()).toEqual([]);
    raw.comeUp();
    expect(await store.create('one', BODY)).toBe('created');
    expect(await keys()).toEqual(['one', verdictKey(raw.location)]);
  });
});
