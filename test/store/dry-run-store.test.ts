import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/core/system.ts';
import { createDryRunStore } from '../../src/store/dry-run-store.ts';
import { createMemoryStore } from '../../src/store/memory.ts';
import type { ObjectStore } from '../../src/store/object-store.ts';
import { createFixedClock } from '../support/clock.ts';
import { listKeys, readText, sourceOf } from '../support/objects.ts';
import { describeContract } from './contract.ts';

const WRITES = ['create', 'delete', 'upload', 'removeAbandonedUploads'] as const;

/** A store whose writing methods must not be called. */
function readOnly(store: ObjectStore): ObjectStore {
  const refusals = WRITES.map((method) => [
    method,
    () => {
      throw new Error(`A dry run called ${method}.`);
    },
  ]);
  return { ...store, ...Object.fromEntries(refusals) };
}

const clock = systemClock;
const shared = createDryRunStore({ store: readOnly(createMemoryStore({ clock })), clock });
describeContract('a dry run on a store that refuses writes', async () => shared, {
  keepsUploads: false,
});

describe('a dry run', () => {
  const text = Buffer.from('text');

  async function setUp() {
    const fixed = createFixedClock();
    const real = createMemoryStore({ clock: fixed });
    for (const key of ['a/1', 'a/3', 'a/5', 'b/1']) await real.create(key, Buffer.from(key));
    return {
      real,
      clock: fixed,
      store: createDryRunStore({ store: readOnly(real), clock: fixed }),
    };
  }

  it('reads the stored objects together with its own writes and deletions', async () => {
    const { real, store } = await setUp();
    expect(await store.create('a/3', text)).toBe('exists');
    expect(await store.create('a/2', text)).toBe('created');
    await store.delete('a/5');
    expect(await store.upload('a/4', sourceOf(text))).toBe('created');
    expect(await store.upload('b/1', sourceOf(text))).toBe('exists');
    expect(await listKeys(store, 'a/')).toEqual(['a/1', 'a/2', 'a/3', 'a/4']);
    expect(await listKeys(store, 'a/', { after: 'a/2' })).toEqual(['a/3', 'a/4']);
    expect(await listKeys(store, 'a/', { after: 'a/4' })).toEqual([]);
    expect((await store.get('a/2'))?.body).toEqual(new Uint8Array(text));
    expect(await readText(store, 'a/3')).toBe('a/3');
    expect([await store.get('a/5'), await store.head('a/5')]).toEqual([undefined, undefined]);
    expect(await listKeys(real, '')).toEqual(['a/1', 'a/3', 'a/5', 'b/1']);
  });

  it('can create an object again after its deletion', async () => {
    const { store } = await setUp();
    await store.delete('a/1');
    expect(await store.create('a/1', text)).toBe('created');
    expect(await readText(store, 'a/1')).toBe('text');
    await store.delete('a/1');
    expect(await store.get('a/1')).toBeUndefined();
    expect(await listKeys(store, 'a/')).toEqual(['a/3', 'a/5']);
  });

  it('keeps the metadata of an upload, and reports that it has no bytes', async () => {
    const { store, clock: fixed } = await setUp();
    let done = 0;
    const onProgress = (bytes: number) => {
      done = bytes;
    };
    await store.upload('c/1', sourceOf(text), { onProgress });
    expect(done).toBe(text.length);
    expect(await store.head('c/1')).toMatchObject({
      size: text.length,
      lastModified: new Date(fixed.now()),
    });
    await expect(store.get('c/1')).rejects.toThrow(/dry run uploads nothing/);
    await store.delete('c/1');
    expect(await store.get('c/1')).toBeUndefined();
  });

  it("dates its objects by the store's clock", async () => {
    const { real, clock: fixed } = await setUp();
    const ahead = { ...real, clockOffsetMs: () => 90_000 };
    const store = createDryRunStore({ store: ahead, clock: fixed });
    await store.create('d/1', text);
    const written = (await store.head('d/1'))?.lastModified.getTime();
    expect(written).toBe(fixed.now() + 90_000);
    expect(store.clockOffsetMs?.()).toBe(90_000);
  });
});
