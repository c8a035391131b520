import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseZsync, zsyncBlocks, zsyncHeader } from '../../src/domain/zsync.ts';

const SHA1 = 'a'.repeat(40);

function file(changes: Readonly<Record<string, string | undefined>> = {}, checksums = 18): Buffer {
  const fields = {
    zsync: '0.6.2',
    Filename: 'App.AppImage',
    Blocksize: '2048',
    Length: '5000',
    'Hash-Lengths': '2,2,4',
    URL: 'App.AppImage',
    'SHA-1': SHA1,
    ...changes,
  };
  const stated = Object.entries(fields).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  return Buffer.concat([Buffer.from(zsyncHeader(stated)), Buffer.alloc(checksums, 10)]);
}

describe('parseZsync', () => {
  it('reads the header, and where the checksums begin', () => {
    const bytes = file();
    expect(parseZsync(bytes)).toMatchObject({
      length: 5000,
      sha1: SHA1,
      checksumsAt: bytes.length - 18,
      fields: expect.arrayContaining([['Filename', 'App.AppImage']]),
    });
  });

  it.each([
    ['no empty line', Buffer.from('zsync: 0.6.2\n')],
    ['a line without a name', file({ '': 'x' })],
    ['no Length', file({ Length: undefined })],
    ['a Length that is no number', file({ Length: '-1' })],
    ['no zsync line', file({ zsync: undefined })],
    ['a Blocksize that is no power of two', file({ Blocksize: '3000' })],
    ['no Blocksize', file({ Blocksize: '0' })],
    ['too short checksums', file({ 'Hash-Lengths': '2,2,2' })],
    ['no SHA-1', file({ 'SHA-1': 'a' })],
    ['a packed file', file({ 'Z-URL': 'x.gz' })],
    ['too few checksums', file({}, 17)],
    ['too many checksums', file({}, 19)],
    ['two lines of one name', Buffer.concat([Buffer.from(`SHA-1: ${SHA1}\n`), file()])],
    ['bytes that are no text', Buffer.concat([Buffer.from([0xff]), file()])],
  ])('refuses %s', (_why, bytes) => expect(parseZsync(bytes)).toEqual(expect.any(String)));

  it('never throws', () => {
    const mutated = fc
      .tuple(fc.nat({ max: 150 }), fc.uint8Array({ maxLength: 8 }))
      .map(([at, bytes]) => {
        const whole = file();
        whole.set(bytes, at);
        return whole;
      });
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array(), mutated), (bytes) => {
        const parsed = parseZsync(bytes);
        expect(typeof parsed === 'string' || parsed.length > 0).toBe(true);
      }),
    );
  });
});

describe('zsyncBlocks', () => {
  it('chooses lengths that the client accepts', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2 ** 45 }), (length) => {
        const { matches, sumBytes, checksumBytes } = zsyncBlocks(length);
        expect([1, 2]).toContain(matches);
        expect(sumBytes >= 2 && sumBytes <= 4).toBe(true);
        expect(checksumBytes >= 3 && checksumBytes <= 16).toBe(true);
      }),
    );
  });
});
