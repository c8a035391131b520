import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { ObjectStore, UploadSource } from '../../src/store/object-store.ts';
import { newKey, sourceOf } from '../support/objects.ts';

/** The part of the contract about large objects. */
export function describeUploads(open: () => Promise<ObjectStore>): void {
  const large = randomBytes(20 * 1024 * 1024 + 7);

  it('uploads a large object in parts and reports the progress', async () => {
    const store = await open();
    const key = newKey();
    const steps: number[] = [];
    const onProgress = (done: number) => steps.push(done);
    expect(await store.upload(key, sourceOf(large), { onProgress })).toBe('created');
    expect(steps.at(-1)).toBe(large.length);
    expect(steps).toEqual([...steps].sort((a, b) => a - b));
    const found = await store.get(key);
    expect(found?.size).toBe(large.length);
    expect(large.equals(found?.body ?? Buffer.alloc(0))).toBe(true);
    expect(await store.upload(key, sourceOf(large))).toBe('exists');
  });

  it.each([0, 1, 8 * 1024 * 1024, 8 * 1024 * 1024 + 1])('uploads %i bytes', async (size) => {
    const store = await open();
    const key = newKey();
    const data = large.subarray(0, size);
    expect(await store.upload(key, sourceOf(data))).toBe('created');
    expect(data.equals((await store.get(key))?.body ?? Buffer.alloc(1))).toBe(true);
    expect(await store.upload(key, sourceOf(data))).toBe('exists');
  });

  it.each([1_000, large.length])(
    'stores nothing when the %i bytes do not match size and hash',
    async (size) => {
      const store = await open();
      const key = newKey();
      const data = large.subarray(0, size);
      const short: UploadSource = { ...sourceOf(data), size: size + 1 };
      const long: UploadSource = { ...sourceOf(data), size: size - 1 };
      for (const source of [sourceOf(data, '0'.repeat(64)), short, long]) {
        await expect(store.upload(key, source)).rejects.toMatchObject({ code: 'upload_mismatch' });
        expect(await store.head(key)).toBeUndefined();
      }
      expect(await store.removeAbandonedUploads(new Date(Date.now() + 60_000))).toBe(0);
    },
  );

  it('leaves nothing of an upload that is aborted, or whose source fails', async () => {
    const store = await open();
    const controller = new AbortController();
    const slow = (fail: () => void): UploadSource => ({
      ...sourceOf(large),
      open: async () => ({
        read: async (target, position) => {
          await sleep(1);
          if (position >= 17 * 1024 * 1024) fail();
          return large.copy(target, 0, position, position + 1024 * 1024);
        },
        close: async () => {},
      }),
    });
    const key = newKey();
    const { signal } = controller;
    const aborted = store.upload(
      key,
      slow(() => controller.abort(new Error('enough'))),
      { signal },
    );
    await expect(aborted).rejects.toThrow('enough');
    const failing = slow(() => {
      throw new Error('disk gone');
    });
    await expect(store.upload(key, failing)).rejects.toThrow('disk gone');
    expect(await store.head(key)).toBeUndefined();
    expect(await store.removeAbandonedUploads(new Date(Date.now() + 60_000))).toBe(0);
  });
}
