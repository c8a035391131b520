import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/core/system.ts';
import { createMeasuredStore } from '../../src/store/measured-store.ts';
import { createMemoryStore } from '../../src/store/memory.ts';
import type { ObjectStore } from '../../src/store/object-store.ts';
import { createFaultyStore } from '../support/faulty-store.ts';
import { collect, listKeys, sourceOf } from '../support/objects.ts';

const BODY = Buffer.from('body');

function measured(inner: ObjectStore) {
  const ended: string[] = [];
  const store = createMeasuredStore({
    store: inner,
    start: (operation) => {
      let isEnded = false;
      return (outcome) => {
        expect(isEnded, operation).toBe(false);
        isEnded = true;
        ended.push(`${operation} ${outcome}`);
      };
    },
  });
  return { store, ended, take: () => ended.splice(0) };
}

describe('a measured store', () => {
  const setUp = () => {
    const raw = createFaultyStore(createMemoryStore({ clock: systemClock }));
    return { raw, ...measured(raw) };
  };

  it('measures each request, also one that finds nothing or comes too late', async () => {
    const { store, take } = setUp();
    await store.create('a', BODY);
    await store.create('a', BODY);
    await store.upload('b', sourceOf(BODY));
    await store.get('a');
    await store.get('none');
    await store.head('a');
    (await store.read('a'))?.stream.destroy();
    const reader = await store.open('a');
    await reader?.read(Buffer.alloc(2), 0);
    await reader?.close();
    await listKeys(store);
    await store.delete('a');
    expect(take()).toEqual(
      [
        ...['create', 'create', 'upload', 'get', 'get', 'head', 'read', 'open', 'read_range'],
        ...['list', 'delete'],
      ].map((operation) => `${operation} ok`),
    );
    await collect(store.list('none'));
    expect(take()).toEqual(['list ok']);
  });

  it.each([
    ['store_unavailable', 'unavailable'],
    ['store_denied', 'denied'],
    ['store_full', 'full'],
    ['document_too_large', 'other'],
  ] as const)('passes %s on, as %s', async (code, outcome) => {
    const { raw, store, take } = setUp();
    await store.create('a', BODY);
    const reader = await store.open('a');
    take();
    raw.setPlan(() => ({ when: 'before', code }));
    await expect(store.create('b', BODY)).rejects.toMatchObject({ code });
    await expect(store.get('a')).rejects.toMatchObject({ code });
    await expect(reader?.read(Buffer.alloc(2), 0)).rejects.toMatchObject({ code });
    await expect(listKeys(store)).rejects.toMatchObject({ code });
    expect(take()).toEqual(
      ['create', 'get', 'read_range', 'list'].map((operation) => `${operation} ${outcome}`),
    );
  });

  it('measures a listing that fails after its first object as another one', async () => {
    const inner = createMemoryStore({ clock: systemClock });
    await inner.create('a', BODY);
    const failing: ObjectStore = {
      ...inner,
      async *list(...call) {
        yield* inner.list(...call);
        throw new Error('The second page failed.');
      },
    };
    const { store, take } = measured(failing);
    await expect(listKeys(store)).rejects.toThrow('The second page failed.');
    expect(take()).toEqual(['list ok', 'list other']);
  });

  it('measures a listing that is not read to its end', async () => {
    const { store, take } = setUp();
    await store.create('a', BODY);
    await store.create('b', BODY);
    take();
    for await (const { key } of store.list('')) {
      expect(key).toBe('a');
      break;
    }
    expect(take()).toEqual(['list ok']);
  });

  it('takes a failure after the caller gave up for the end of its patience', async () => {
    const { raw, store, take } = setUp();
    raw.goDown();
    await expect(store.get('a', { signal: AbortSignal.abort() })).rejects.toThrow();
    expect(take()).toEqual(['get aborted']);
  });

  it('does not measure presigning, which sends no request', async () => {
    const { store, take } = setUp();
    const times = { signedAt: new Date(0), expiresAt: new Date(1) };
    await store.presign({ method: 'GET', key: 'a', filename: 'a', ...times });
    expect(take()).toEqual([]);
  });
});
