import { expect, it } from 'vitest';
import type { ObjectReader, ObjectStore } from '../../src/store/object-store.ts';
import { newKey } from '../support/objects.ts';

/** The part of the contract about objects that are opened for reads at any position. */
export function describeReaders(open: () => Promise<ObjectStore>): void {
  const openText = async (store: ObjectStore, text: string): Promise<ObjectReader> => {
    const key = newKey();
    await store.create(key, Buffer.from(text));
    const reader = await store.open(key);
    if (reader === undefined) throw new Error(`The store has no ${key}.`);
    return reader;
  };

  const readText = async (reader: ObjectReader, start: number, length: number): Promise<string> => {
    const target = Buffer.alloc(length, '?');
    await reader.read(target, start);
    return target.toString();
  };

  it('reads an opened object at any position, many pieces at the same time', async () => {
    const store = await open();
    const text = Array.from({ length: 3_000 }, (_, n) => `${n},`).join('');
    const reader = await openText(store, text);
    expect(reader.info).toEqual(await store.head(reader.info.key));
    expect(await readText(reader, 0, text.length)).toBe(text);
    const pieces = Array.from({ length: 40 }, (_, n) => ({ start: n * 300, length: 1 + n * 7 }));
    const read = pieces.map(({ start, length }) => readText(reader, start, length));
    expect(await Promise.all(read)).toEqual(
      pieces.map(({ start, length }) => text.slice(start, start + length)),
    );
    await reader.close();
  });

  it('fills a part of a larger buffer, and nothing beside it', async () => {
    const reader = await openText(await open(), '0123456789');
    const buffer = Buffer.alloc(6, '.');
    await reader.read(buffer.subarray(2, 5), 7);
    expect(buffer.toString()).toBe('..789.');
    await reader.close();
  });

  it('refuses to read beyond the end of an opened object', async () => {
    const reader = await openText(await open(), '0123456789');
    for (const [start, length] of [
      [10, 1],
      [8, 3],
      [-1, 1],
      [0.5, 1],
    ] as const) {
      const reading = reader.read(Buffer.alloc(length), start);
      await expect(reading, `${start}`).rejects.toMatchObject({ code: 'invalid_range' });
    }
    expect(await readText(reader, 9, 1)).toBe('9');
    expect(await readText(reader, 10, 0)).toBe('');
    await reader.close();
  });

  it('opens an empty object, and no missing one', async () => {
    const store = await open();
    const reader = await openText(store, '');
    expect(reader.info.size).toBe(0);
    await reader.close();
    expect(await store.open(newKey())).toBeUndefined();
  });

  it('does not open or read once the signal is aborted', async () => {
    const store = await open();
    const signal = AbortSignal.abort(new Error('enough'));
    const reader = await openText(store, 'text');
    const { key } = reader.info;
    await expect(store.open(key, { signal })).rejects.toThrow('enough');
    const reading = reader.read(Buffer.alloc(1), 0, { signal });
    await expect(reading).rejects.toThrow('enough');
    await reader.close();
  });

  it('never mixes an opened object with another object that replaced it', async () => {
    const store = await open();
    const reader = await openText(store, 'the first bytes');
    const { key } = reader.info;
    await store.delete(key);
    await store.create(key, Buffer.from('other, and more'));
    // A directory and memory keep an opened object; a bucket reports that it was replaced.
    const read = await readText(reader, 0, 15).catch((error: { code: string }) => error.code);
    expect(['the first bytes', 'store_unavailable']).toContain(read);
    await reader.close();
  });
}
