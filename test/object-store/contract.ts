import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareKeys } from '../../src/object-store/key.ts';
import type { ObjectInfo, ObjectStore, UploadSource } from '../../src/object-store/object-store.ts';

/**
 * Every store must pass this; `open` gives a store that may already hold other tests' objects.
 *
 * @param keepsUploads false for a dry run, which keeps no bytes of an upload
 */
export function describeContract(
  name: string,
  open: () => Promise<ObjectStore>,
  { keepsUploads = true }: { readonly keepsUploads?: boolean } = {},
): void {
  describe(`${name}: the object store contract`, () => {
    describeObjects(open);
    describeListing(open);
    describeKeys(open);
    if (keepsUploads) describeUploads(open);
  });
}

const bytes = (text: string) => Buffer.from(text);
const text = (body: Uint8Array | undefined) => body && Buffer.from(body).toString();
let counter = 0;
const fresh = (name = 'object') => {
  counter += 1;
  return `contract/${process.pid}-${counter}/${name}`;
};

export async function collect(listing: AsyncIterable<ObjectInfo>): Promise<ObjectInfo[]> {
  const found: ObjectInfo[] = [];
  for await (const info of listing) {
    found.push(info);
  }
  return found;
}

export function sourceOf(data: Buffer, sha256?: string): UploadSource {
  return {
    size: data.length,
    sha256: sha256 ?? createHash('sha256').update(data).digest('hex'),
    open: async () => ({
      // Short reads, as a pipe or a network file system gives them.
      read: async (target, position) =>
        data.copy(target, 0, position, Math.min(position + 100_000, position + target.length)),
      close: async () => {},
    }),
  };
}

function describeObjects(open: () => Promise<ObjectStore>): void {
  it('gives back what was created', async () => {
    const store = await open();
    const key = fresh();
    const before = Date.now();
    expect(await store.create(key, bytes('hello'), { contentType: 'text/plain' })).toBe('created');
    const found = await store.get(key);
    expect(found).toMatchObject({ key, size: 5 });
    expect(text(found?.body)).toBe('hello');
    expect(found?.etag).toMatch(/^".+"$/);
    expect(Math.abs((found?.lastModified.getTime() ?? 0) - before)).toBeLessThan(60_000);
    const { body, ...info } = found as NonNullable<typeof found>;
    expect(body).toHaveLength(5);
    const head = await store.head(key);
    expect(head).toMatchObject({ key, size: 5, etag: info.etag });
  });

  it('keeps an empty object', async () => {
    const store = await open();
    const key = fresh();
    await store.create(key, bytes(''));
    const found = await store.get(key);
    expect(found?.size).toBe(0);
    expect(found?.body).toHaveLength(0);
    const read = await store.read(key);
    expect(await read?.stream.toArray()).toEqual([]);
  });

  it('does not create over an existing object', async () => {
    const store = await open();
    const key = fresh();
    expect(await store.create(key, bytes('first'))).toBe('created');
    expect(await store.create(key, bytes('second'))).toBe('exists');
    expect(text((await store.get(key))?.body)).toBe('first');
  });

  it('lets exactly one of 24 racing writers create', async () => {
    const store = await open();
    for (let round = 0; round < 5; round += 1) {
      const key = fresh();
      const outcomes = await Promise.all(
        Array.from({ length: 24 }, (_, index) =>
          store
            .create(key, bytes(`writer ${index}`))
            .catch((error: { code: string }) => error.code),
        ),
      );
      const winner = outcomes.indexOf('created');
      expect(outcomes.filter((outcome) => outcome === 'created')).toHaveLength(1);
      // Ceph RGW answers some lost races with 500.
      expect(outcomes.every((o) => ['created', 'exists', 'store_unavailable'].includes(o))).toBe(
        true,
      );
      expect(text((await store.get(key))?.body)).toBe(`writer ${winner}`);
    }
  });

  it('reads ranges', async () => {
    const store = await open();
    const key = fresh();
    await store.create(key, bytes('0123456789'));
    const range = async (start: number, end?: number) => {
      const bounds = end === undefined ? { start } : { start, end };
      const found = await store.get(key, { range: bounds });
      expect(found?.size).toBe(10);
      const read = await store.read(key, { range: bounds });
      expect(read?.size).toBe(10);
      const streamed = Buffer.concat((await read?.stream.toArray()) ?? []).toString();
      expect(streamed).toBe(text(found?.body));
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

  it('answers undefined for a missing object', async () => {
    const store = await open();
    const key = fresh();
    expect(await store.get(key)).toBeUndefined();
    expect(await store.get(key, { range: { start: 5 } })).toBeUndefined();
    expect(await store.read(key)).toBeUndefined();
    expect(await store.head(key)).toBeUndefined();
  });

  it('refuses to read more into memory than asked for', async () => {
    const store = await open();
    const key = fresh();
    await store.create(key, bytes('0123456789'));
    await expect(store.get(key, { bytesMax: 9 })).rejects.toMatchObject({
      code: 'document_too_large',
    });
    expect(text((await store.get(key, { bytesMax: 10 }))?.body)).toBe('0123456789');
  });

  it('deletes, and deletes what is not there', async () => {
    const store = await open();
    const key = fresh('a/b/c');
    await store.create(key, bytes('x'));
    await store.delete(key);
    await store.delete(key);
    expect(await store.head(key)).toBeUndefined();
    expect(await store.create(key, bytes('y'))).toBe('created');
  });

  it('stops at an aborted signal', async () => {
    const store = await open();
    const signal = AbortSignal.abort(new Error('enough'));
    const key = fresh();
    await expect(store.create(key, bytes('x'), { signal })).rejects.toThrow('enough');
    await expect(store.get(key, { signal })).rejects.toThrow('enough');
    expect(await store.head(key)).toBeUndefined();
  });
}

function describeListing(open: () => Promise<ObjectStore>): void {
  it('lists by prefix in the order of the bytes of the keys', async () => {
    const store = await open();
    const root = fresh('list');
    const names = [
      'one/two/b',
      'one/two/a',
      'one/two-other/a',
      'one/two.json',
      'one/\u{1F600}',
      'one/\uF8FF',
    ];
    await Promise.all(names.map((name) => store.create(`${root}/${name}`, bytes(name))));
    const list = async (prefix: string) =>
      (await collect(store.list(`${root}/${prefix}`))).map(({ key }) => key.slice(root.length + 1));
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
    const above = await collect(store.list(`${root}/`, { after }));
    expect(above.map(({ key }) => key.slice(root.length + 1))).toEqual([
      'one/two/b',
      'one/\uF8FF',
      'one/\u{1F600}',
    ]);
    const [first] = await collect(store.list(`${root}/one/two/`));
    expect(first).toMatchObject({ size: 9, etag: (await store.head(`${root}/one/two/a`))?.etag });
  });

  it('lists past a page of 1,000', async () => {
    const store = await open();
    const root = fresh('many');
    const keys = Array.from({ length: 1_030 }, (_, n) => `${root}/${String(n).padStart(5, '0')}`);
    for (let at = 0; at < keys.length; at += 50) {
      await Promise.all(keys.slice(at, at + 50).map((key) => store.create(key, bytes('x'))));
    }
    expect((await collect(store.list(`${root}/`))).map(({ key }) => key)).toEqual(keys);
  });
}

function describeKeys(open: () => Promise<ObjectStore>): void {
  it.each([
    'Ünïcödé — 日本語.exe',
    'with space.dmg',
    '100%25+1&a=b;c.zip',
    "a?b#c'd(e)*!~@$,.json",
  ])('keeps the name %s', async (name) => {
    const store = await open();
    const key = fresh(name);
    expect(await store.create(key, bytes(name))).toBe('created');
    expect(text((await store.get(key))?.body)).toBe(name);
    expect((await collect(store.list(key))).map((info) => info.key)).toEqual([key]);
    await store.delete(key);
    expect(await store.head(key)).toBeUndefined();
  });

  // What a volume may take for one name, refuse, or change: case, accents, devices, ends, short names.
  const delicate = [
    ...[
      'readme.md',
      'README.md',
      'Readme.md',
      '\u00e9',
      'e\u0301',
      '\u00df',
      'ss',
      '\u212a',
      'k',
      'K',
    ],
    ...['con', 'CON', 'con.txt', 'aux', 'nul.tar.gz', 'com1', 'lpt9.log', 'console'],
    ...['name', 'name.', 'name..', 'name ', ' name', '.name', '...', 'progra~1', 'program files'],
    ...['%63on', '!r', '%', '!', 'a%', 'a%20b', 'a b', 'a:b', 'a*b', 'a<b>', 'a|b', 'a"b', '$mft'],
    ...['A', 'a', '\u00e9', 'E'].map((letter) => letter.repeat(letter === '\u00e9' ? 127 : 255)),
    ...['x', '.', 'X', '+', '\u65e5'].map((end) => `${'a'.repeat(127)}${end}${'b'.repeat(100)}`),
    `${'a'.repeat(128)}`,
    `${'a'.repeat(128)}.slipway-tmp-1`,
    `${'a'.repeat(128)}con`,
    `${'a'.repeat(128)}..`,
  ];

  it('keeps apart what volumes fold, refuse or shorten, and lists it in order', async () => {
    const store = await open();
    const root = fresh('delicate');
    const keys = delicate.map((name) => `${root}/${name}`);
    const below = delicate.map((name) => `${root}-below/${name}/x`);
    for (const key of [...keys, ...below]) {
      expect(await store.create(key, bytes(key)), key).toBe('created');
    }
    for (const key of [...keys, ...below]) {
      expect(text((await store.get(key))?.body), key).toBe(key);
      expect(await store.create(key, bytes('again')), key).toBe('exists');
    }
    const listed = async (prefix: string) =>
      (await collect(store.list(prefix))).map(({ key }) => key);
    expect(await listed(`${root}/`)).toEqual(keys.toSorted(compareKeys));
    expect(await listed(`${root}-below/`)).toEqual(below.toSorted(compareKeys));
    expect(await listed(`${root}/READ`)).toEqual([`${root}/README.md`]);
    const long = `${root}/${'a'.repeat(130)}`;
    expect(await listed(long)).toEqual(
      keys.filter((key) => key.startsWith(long)).toSorted(compareKeys),
    );
    for (const key of [...keys, ...below]) await store.delete(key);
    expect(await listed(root)).toEqual([]);
  });

  const hostile = [
    '',
    '/',
    '/a',
    'a/',
    'a//b',
    '.',
    '..',
    '../a',
    'a/../b',
    'a/./b',
    'a\\b',
    'a\0b',
  ];
  const more = ['a\nb', '\x7f', '\x85', '\ud800', 'a\u2028b', 'x\u202Etxt.exe', 'é'.repeat(513)];
  it.each([...hostile, ...more, 'x'.repeat(256), '.slipway-tmp-1', 'a/.slipway-tmp-1/b'])(
    'refuses the key %j everywhere',
    async (key) => {
      const store = await open();
      const source = sourceOf(bytes('x'));
      const [signedAt, expiresAt] = [new Date(), new Date(Date.now() + 60_000)];
      for (const call of [
        () => store.create(key, bytes('x')),
        () => store.get(key),
        () => store.read(key),
        () => store.head(key),
        () => store.delete(key),
        () => store.upload(key, source),
        () => store.presign({ method: 'GET', key, filename: 'x', signedAt, expiresAt }),
      ]) {
        await expect(call()).rejects.toMatchObject({ code: 'invalid_key' });
      }
    },
  );

  it('keeps any key it accepts apart from every other', async () => {
    const store = await open();
    const root = fresh('any');
    const segment = fc.string({ unit: 'binary', minLength: 1, maxLength: 12 });
    const keys = fc.array(segment, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/'));
    let kept = 0;
    await fc.assert(
      fc.asyncProperty(keys, fc.uuid(), async (name, unique) => {
        const key = `${root}/${unique}/${name}`;
        const outcome = await store
          .create(key, bytes(key))
          .catch((error: { code: string }) => error.code);
        expect(['created', 'invalid_key']).toContain(outcome);
        if (outcome === 'created') {
          kept += 1;
          expect(text((await store.get(key))?.body)).toBe(key);
          expect((await collect(store.list(`${root}/${unique}/`))).map((o) => o.key)).toEqual([
            key,
          ]);
        }
      }),
      { numRuns: 150, seed: 20261121 },
    );
    expect(kept).toBeGreaterThan(20);
  });
}

function describeUploads(open: () => Promise<ObjectStore>): void {
  const large = randomBytes(20 * 1024 * 1024 + 7);

  it('uploads a large object in parts and says how far it is', async () => {
    const store = await open();
    const key = fresh();
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
    const key = fresh();
    const data = large.subarray(0, size);
    expect(await store.upload(key, sourceOf(data))).toBe('created');
    expect(data.equals((await store.get(key))?.body ?? Buffer.alloc(1))).toBe(true);
    expect(await store.upload(key, sourceOf(data))).toBe('exists');
  });

  it.each([1_000, large.length])('stores nothing of %i bytes that differ', async (size) => {
    const store = await open();
    const key = fresh();
    const data = large.subarray(0, size);
    const short: UploadSource = { ...sourceOf(data), size: size + 1 };
    const long: UploadSource = { ...sourceOf(data), size: size - 1 };
    for (const source of [sourceOf(data, '0'.repeat(64)), short, long]) {
      await expect(store.upload(key, source)).rejects.toMatchObject({ code: 'upload_mismatch' });
      expect(await store.head(key)).toBeUndefined();
    }
    expect(await store.removeAbandonedUploads(new Date(Date.now() + 60_000))).toBe(0);
  });

  it('leaves nothing of an upload aborted midway or whose source fails', async () => {
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
    const key = fresh();
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
