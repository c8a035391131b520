import { describe, expect, it } from 'vitest';
import type { ObjectStore } from '../../src/store/object-store.ts';
import { collect, listKeys, newKey, readText } from '../support/objects.ts';
import { describeKeys } from './contract-keys.ts';
import { describeReaders } from './contract-readers.ts';
import { describeUploads } from './contract-uploads.ts';

/**
 * Defines the tests that every store must pass.
 *
 * @param open returns a store, which may already hold objects of other tests
 * @param keepsUploads false for a dry run, which does not keep the bytes of an upload
 */
export function describeContract(
  name: string,
  open: () => Promise<ObjectStore>,
  { keepsUploads = true }: { readonly keepsUploads?: boolean } = {},
): void {
  describe(`${name}: the object store contract`, () => {
    describeObjects(open);
    describeReaders(open);
    describeListing(open);
    describeKeys(open);
    if (keepsUploads) describeUploads(open);
  });
}

const textOf = (body: Uint8Array | undefined) => body && Buffer.from(body).toString();

function describeObjects(open: () => Promise<ObjectStore>): void {
  it('returns the bytes that were created', async () => {
    const store = await open();
    const key = newKey();
    const before = Date.now();
    expect(await store.create(key, Buffer.from('hello'), { contentType: 'text/plain' })).toBe(
      'created',
    );
    const found = await store.get(key);
    expect(found).toMatchObject({ key, size: 5 });
    expect(textOf(found?.body)).toBe('hello');
    expect(found?.etag).toMatch(/^".+"$/);
    expect(Math.abs((found?.lastModified.getTime() ?? 0) - before)).toBeLessThan(60_000);
    const { body, ...info } = found as NonNullable<typeof found>;
    expect(body).toHaveLength(5);
    const head = await store.head(key);
    expect(head).toMatchObject({ key, size: 5, etag: info.etag });
  });

  it('keeps an empty object', async () => {
    const store = await open();
    const key = newKey();
    await store.create(key, Buffer.from(''));
    const found = await store.get(key);
    expect(found?.size).toBe(0);
    expect(found?.body).toHaveLength(0);
    const read = await store.read(key);
    expect(await read?.stream.toArray()).toEqual([]);
  });

  it('does not overwrite an existing object', async () => {
    const store = await open();
    const key = newKey();
    expect(await store.create(key, Buffer.from('first'))).toBe('created');
    expect(await store.create(key, Buffer.from('second'))).toBe('exists');
    expect(await readText(store, key)).toBe('first');
  });

  it('lets exactly one of 24 concurrent writers create an object', async () => {
    const store = await open();
    for (let round = 0; round < 5; round += 1) {
      const key = newKey();
      const outcomes = await Promise.all(
        Array.from({ length: 24 }, (_, index) =>
          store
            .create(key, Buffer.from(`writer ${index}`))
            .catch((error: { code: string }) => error.code),
        ),
      );
      const winner = outcomes.indexOf('created');
      expect(outcomes.filter((outcome) => outcome === 'created')).toHaveLength(1);
      // Ceph RGW answers some lost races with 500.
      expect(outcomes.every((o) => ['created', 'exists', 'store_unavailable'].includes(o))).toBe(
        true,
      );
      expect(await readText(store, key)).toBe(`writer ${winner}`);
    }
  });

  it('reads ranges', async () => {
    const store = await open();
    const key = newKey();
    await store.create(key, Buffer.from('0123456789'));
    const range = async (start: number, end?: number) => {
      const bounds = end === undefined ? { start } : { start, end };
      const found = await store.get(key, { range: bounds });
      expect(found?.size).toBe(10);
      const read = await store.read(key, { range: bounds });
      expect(read?.size).toBe(10);
      const streamed = Buffer.concat((await read?.stream.toArray()) ?? []).toString();
      expect(streamed).toBe(textOf(found?.body));
      return streamed;
    };
    expect(await range(0, 0)).toBe('0');
    expect(await range(2, 4)).toBe('234');
    expect(await range(7)).toBe('789');
    expect(await range(8, 500)).toBe('89');
    for (const bad of [{ start: 10 }, { start: -1 }, { start: 3, end: 2 }, { start: 0.5 }]) {
      await expect(store.get(key, { range: bad })).rejects.toMatchObject({ code: 'invalid_range' });
    }
  });

  it('returns undefined for a missing object', async () => {
    const store = await open();
    const key = newKey();
    expect(await store.get(key)).toBeUndefined();
    expect(await store.get(key, { range: { start: 5 } })).toBeUndefined();
    expect(await store.read(key)).toBeUndefined();
    expect(await store.head(key)).toBeUndefined();
  });

  it('refuses to read more than bytesMax into memory', async () => {
    const store = await open();
    const key = newKey();
    await store.create(key, Buffer.from('0123456789'));
    await expect(store.get(key, { bytesMax: 9 })).rejects.toMatchObject({
      code: 'document_too_large',
    });
    expect(textOf((await store.get(key, { bytesMax: 10 }))?.body)).toBe('0123456789');
  });

  it('deletes an object, and accepts the deletion of a missing one', async () => {
    const store = await open();
    const key = newKey('a/b/c');
    await store.create(key, Buffer.from('x'));
    await store.delete(key);
    await store.delete(key);
    expect(await store.head(key)).toBeUndefined();
    expect(await store.create(key, Buffer.from('y'))).toBe('created');
  });

  it('does nothing when the signal is aborted', async () => {
    const store = await open();
    const signal = AbortSignal.abort(new Error('enough'));
    const key = newKey();
    await expect(store.create(key, Buffer.from('x'), { signal })).rejects.toThrow('enough');
    await expect(store.get(key, { signal })).rejects.toThrow('enough');
    expect(await store.head(key)).toBeUndefined();
  });
}

function describeListing(open: () => Promise<ObjectStore>): void {
  it('lists by prefix, in the order of the bytes of the keys', async () => {
    const store = await open();
    const root = newKey('list');
    const names = [
      'one/two/b',
      'one/two/a',
      'one/two-other/a',
      'one/two.json',
      'one/\u{1F600}',
      'one/\uF8FF',
    ];
    await Promise.all(names.map((name) => store.create(`${root}/${name}`, Buffer.from(name))));
    const list = async (prefix: string) =>
      (await listKeys(store, `${root}/${prefix}`)).map((key) => key.slice(root.length + 1));
    expect(await list('one/two/')).toEqual(['one/two/a', 'one/two/b']);
    expect(await list('one/two')).toEqual([
      'one/two-other/a',
      'one/two.json',
      'one/two/a',
      'one/two/b',
    ]);
    expect(await list('')).toEqual([
      'one/two-other/a',
      'one/two.json',
      'one/two/a',
      'one/two/b',
      'one/\uF8FF',
      'one/\u{1F600}',
    ]);
    expect(await list('nothing/')).toEqual([]);
    const after = `${root}/one/two/a`;
    const above = await listKeys(store, `${root}/`, { after });
    expect(above.map((key) => key.slice(root.length + 1))).toEqual([
      'one/two/b',
      'one/\uF8FF',
      'one/\u{1F600}',
    ]);
    const [first] = await collect(store.list(`${root}/one/two/`));
    expect(first).toMatchObject({ size: 9, etag: (await store.head(`${root}/one/two/a`))?.etag });
  });

  it('lists more than one page of 1,000 keys', async () => {
    const store = await open();
    const root = newKey('many');
    const keys = Array.from({ length: 1_030 }, (_, n) => `${root}/${String(n).padStart(5, '0')}`);
    for (let at = 0; at < keys.length; at += 50) {
      await Promise.all(keys.slice(at, at + 50).map((key) => store.create(key, Buffer.from('x'))));
    }
    expect(await listKeys(store, `${root}/`)).toEqual(keys);
  });
}
