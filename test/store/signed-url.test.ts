import { expect, it } from 'vitest';
import { createUrlSigner } from '../../src/store/signed-url.ts';

const now = new Date('2026-11-21T12:00:00Z');
const later = (seconds: number) => new Date(now.getTime() + seconds * 1000);
const signer = createUrlSigner({ secret: 'x'.repeat(32), baseUrl: () => 'https://host/base/' });
const request = { method: 'GET', key: 'a/b %+ü', filename: 'ü "q".exe', signedAt: now } as const;

function parse(url: string) {
  const { pathname, searchParams } = new URL(url);
  const key = decodeURIComponent(pathname.slice('/base/files/'.length));
  return { method: 'GET', key, query: Object.fromEntries(searchParams), now };
}

it('signs a link that it accepts until it ends', () => {
  const { url, expiresAt } = signer.sign({ ...request, expiresAt: later(60.5) });
  expect(url).toMatch(/^https:\/\/host\/base\/files\/a\/b%20%25%2B%C3%BC\?expires=\d+&filename=/);
  expect(expiresAt).toEqual(later(60));
  const expected = { filename: 'ü "q".exe', expiresAt };
  expect(signer.verify(parse(url))).toEqual(expected);
  expect(signer.verify({ ...parse(url), now: later(59) })).toEqual(expected);
  expect(() => signer.verify({ ...parse(url), now: later(60) })).toThrow('expired');
});

it('accepts no other method, key, name, end, secret or shape', () => {
  const { query, ...link } = parse(signer.sign({ ...request, expiresAt: later(60) }).url);
  const altered = [
    { ...link, query, method: 'HEAD' },
    { ...link, query, key: 'a/c' },
    { ...link, query: { ...query, filename: 'other.exe' } },
    { ...link, query: { ...query, expires: '9999999999' } },
    { ...link, query: { ...query, signature: 'AAAA' } },
    { ...link, query: { ...query, filename: ['a', 'b'] } },
    { ...link, query: {} },
  ];
  for (const given of altered) {
    expect(() => signer.verify(given)).toThrow(
      expect.objectContaining({
        code: 'invalid_link',
        message: 'This download link is not valid. Request a new one.',
      }),
    );
  }
  const other = createUrlSigner({ secret: 'y'.repeat(32), baseUrl: () => 'https://host' });
  expect(() => other.verify({ ...link, query })).toThrow('not valid');
});

it('signs the address of a public file, for this key only and not for another use', () => {
  const path = signer.signPublic(request.key);
  expect(path).toMatch(/^files\/public\/[\w-]{43}\/a\/b%20%25%2B%C3%BC$/);
  expect(signer.signPublic(request.key)).toBe(path);
  const signature = path.split('/')[2] ?? '';
  expect(() => signer.verifyPublic({ signature, key: request.key })).not.toThrow();
  const { query } = parse(signer.sign({ ...request, expiresAt: later(60) }).url);
  for (const given of [
    { signature, key: 'a/c' },
    { signature: signature.slice(1), key: request.key },
    { signature: '', key: request.key },
    { signature: String(query.signature), key: request.key },
  ]) {
    expect(() => signer.verifyPublic(given)).toThrow('not valid');
  }
  const borrowed = { method: 'GET', key: request.key, query: { ...query, signature }, now };
  expect(() => signer.verify(borrowed)).toThrow('not valid');
});
