import fc from 'fast-check';
import { expect, it } from 'vitest';
import { compareKeys } from '../../src/store/key.ts';
import type { ObjectStore } from '../../src/store/object-store.ts';
import { character } from '../support/character.ts';
import { listKeys, newKey, readText, sourceOf } from '../support/objects.ts';
import { rounds } from '../support/rounds.ts';

/** The part of the contract about which keys a store accepts, and that it keeps them distinct. */
export function describeKeys(open: () => Promise<ObjectStore>): void {
  it.each([
    'Ünïcödé — 日本語.exe',
    'with space.dmg',
    '100%25+1&a=b;c.zip',
    "a?b#c'd(e)*!~@$,.json",
  ])('stores the name %s', async (name) => {
    const store = await open();
    const key = newKey(name);
    expect(await store.create(key, Buffer.from(name))).toBe('created');
    expect(await readText(store, key)).toBe(name);
    expect(await listKeys(store, key)).toEqual([key]);
    await store.delete(key);
    expect(await store.head(key)).toBeUndefined();
  });

  // Names that a volume may treat as equal, refuse or change: case, accents, devices, final dots, short names.
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

  it('keeps names distinct that volumes fold, refuse or shorten, and lists them in order', async () => {
    const store = await open();
    const root = newKey('delicate');
    const keys = delicate.map((name) => `${root}/${name}`);
    const below = delicate.map((name) => `${root}-below/${name}/x`);
    for (const key of [...keys, ...below]) {
      expect(await store.create(key, Buffer.from(key)), key).toBe('created');
    }
    for (const key of [...keys, ...below]) {
      expect(await readText(store, key), key).toBe(key);
      expect(await store.create(key, Buffer.from('again')), key).toBe('exists');
    }
    const listed = (prefix: string) => listKeys(store, prefix);
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
    'refuses the key %j in every method',
    async (key) => {
      const store = await open();
      const source = sourceOf(Buffer.from('x'));
      const [signedAt, expiresAt] = [new Date(), new Date(Date.now() + 60_000)];
      for (const call of [
        () => store.create(key, Buffer.from('x')),
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

  it('keeps every accepted key distinct from every other', async () => {
    const store = await open();
    const root = newKey('any');
    const segment = fc.string({ unit: character, minLength: 1, maxLength: 12 });
    const keys = fc.array(segment, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/'));
    let kept = 0;
    await fc.assert(
      fc.asyncProperty(keys, fc.uuid(), async (name, unique) => {
        const key = `${root}/${unique}/${name}`;
        const outcome = await store
          .create(key, Buffer.from(key))
          .catch((error: { code: string }) => error.code);
        expect(['created', 'invalid_key']).toContain(outcome);
        if (outcome === 'created') {
          kept += 1;
          expect(await readText(store, key)).toBe(key);
          expect(await listKeys(store, `${root}/${unique}/`)).toEqual([key]);
        }
      }),
      { numRuns: rounds(60, 150), seed: 20261121 },
    );
    expect(kept).toBeGreaterThan(20);
  });
}
