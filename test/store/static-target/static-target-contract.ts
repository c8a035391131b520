import { createHash, randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import type { UploadSource } from '../../../src/store/object-store.ts';
import type { StaticTarget } from '../../../src/store/static-target/static-target.ts';

/** What every target of an export does. */

export interface TargetUnderTest {
  /** A new object for the same place, as the next export has it. */
  open(): StaticTarget;
  /** The bytes that a static server would send; undefined for none. */
  read(path: string): Promise<Buffer | undefined>;
  /** A file that no export wrote. */
  write(path: string, bytes: Buffer): Promise<void>;
}

export function sourceOf(bytes: Buffer, stated = bytes): UploadSource {
  return {
    size: stated.length,
    sha256: createHash('sha256').update(stated).digest('hex'),
    open: async () => ({
      read: async (target, position) => bytes.copy(target, 0, position),
      close: async () => {},
    }),
  };
}

const FACTS = { contentType: 'text/yaml', cacheControl: 'public, max-age=60' };

/** @param create a new and empty place */
export function describeTarget(create: () => Promise<TargetUnderTest>): void {
  it('writes, replaces and removes files', async () => {
    const place = await create();
    const target = place.open();
    expect(await target.open(false)).toEqual([]);
    const names = ['feeds/a/latest.yml', 'feeds/a/1.0.0+5/My App é (1).exe', "x/it's {{b}}/&.txt"];
    for (const name of names) {
      await target.put(name, sourceOf(Buffer.from('old')), FACTS);
      expect((await place.read(name))?.toString()).toBe('old');
      await target.put(name, sourceOf(Buffer.from('newer')), FACTS);
      expect((await place.read(name))?.toString()).toBe('newer');
      expect(await target.remove(name)).toBe(true);
      expect(await place.read(name)).toBeUndefined();
      expect(await target.has(name, sourceOf(Buffer.from('newer')))).toBe(false);
    }
    await target.close();
  });

  it('writes empty and large files in bounded memory, and copies them', async () => {
    const place = await create();
    const target = place.open();
    await target.open(false);
    for (const bytes of [Buffer.alloc(0), randomBytes(20 * 1024 * 1024 + 7)]) {
      await target.put('a/file', sourceOf(bytes), FACTS);
      const unread = {
        ...sourceOf(bytes),
        open: () => Promise.reject(new Error('read a second time')),
      };
      await target.put('b/file +1', unread, FACTS, 'a/file');
      expect((await place.read('a/file'))?.equals(bytes)).toBe(true);
      expect((await place.read('b/file +1'))?.equals(bytes)).toBe(true);
    }
    // Two names of one file stay independent.
    await target.put('a/file', sourceOf(Buffer.from('x')), FACTS);
    expect((await place.read('b/file +1'))?.length).toBe(20 * 1024 * 1024 + 7);
    await target.close();
  });

  it.each([100, 9 * 1024 * 1024])(
    'keeps the old file when the %i bytes are not the stated ones',
    async (size) => {
      const place = await create();
      const target = place.open();
      await target.open(false);
      await target.put('f', sourceOf(Buffer.from('old')), FACTS);
      const stated = randomBytes(size);
      const [wrong, long] = [randomBytes(size), Buffer.concat([stated, Buffer.from('x')])];
      for (const bytes of [wrong, long, stated.subarray(1)]) {
        await expect(target.put('f', sourceOf(bytes, stated), FACTS)).rejects.toMatchObject({
          code: 'upload_mismatch',
        });
      }
      expect((await place.read('f'))?.toString()).toBe('old');
      await target.close();
    },
  );

  it('knows what an earlier export wrote, by its bytes', async () => {
    const place = await create();
    const first = place.open();
    await first.open(false);
    await first.put('a/b', sourceOf(Buffer.from('one')), FACTS);
    // Without close: as after a kill.
    const second = place.open();
    expect(await second.open(false)).toEqual(['a/b']);
    expect(await second.has('a/b', sourceOf(Buffer.from('one')))).toBe(true);
    expect(await second.has('a/b', sourceOf(Buffer.from('two')))).toBe(false);
    expect(await second.has('a/c', sourceOf(Buffer.from('one')))).toBe(false);
    await place.write('a/b', Buffer.from('cut off'));
    expect(await place.open().open(true)).toEqual(['a/b']);
    await second.close();
    await first.close();
  });

  it('removes nothing that no export wrote', async () => {
    const place = await create();
    const target = place.open();
    await target.open(false);
    await place.write('robots.txt', Buffer.from('allow'));
    expect(await target.remove('robots.txt')).toBe(false);
    await target.close();
    const next = place.open();
    await next.open(false);
    expect(await next.remove('robots.txt')).toBe(false);
    expect((await place.read('robots.txt'))?.toString()).toBe('allow');
    await next.close();
  });

  it('refuses a place with files that no export wrote', async () => {
    const place = await create();
    await place.write('index.html', Buffer.from('a website'));
    for (const onlyReads of [true, false]) {
      await expect(place.open().open(onlyReads)).rejects.toMatchObject({
        code: 'invalid_configuration',
        message: expect.stringContaining('"index.html"'),
      });
    }
  });

  it('writes nothing when it only reads', async () => {
    const place = await create();
    const target = place.open();
    expect(await target.open(true)).toEqual([]);
    await target.close();
    await place.write('index.html', Buffer.from('a website'));
    await expect(place.open().open(true)).rejects.toMatchObject({ code: 'invalid_configuration' });
  });

  it.each(['../out', 'a/../../out', 'a//b', '/etc/x', 'a\\b', 'a/./b', ''])(
    'refuses the path %j',
    async (name) => {
      const target = (await create()).open();
      await target.open(false);
      const put = target.put(name, sourceOf(Buffer.from('x')), FACTS);
      await expect(put).rejects.toMatchObject({ code: 'invalid_key' });
      await target.close();
    },
  );
}
