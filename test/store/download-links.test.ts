import { expect, it } from 'vitest';
import { createDownloadLinks } from '../../src/store/download-links.ts';
import type { PresignRequest } from '../../src/store/object-store.ts';

const MINUTE = 60_000;
const START = Math.floor(1_800_000_000_000 / (20 * MINUTE)) * 20 * MINUTE;
const file = { method: 'GET', key: 'a/b', filename: 'b', isPublic: false } as const;

function setUp(end?: (now: number) => number) {
  let now = START + 3 * MINUTE;
  const signed: PresignRequest[] = [];
  const clock = { now: () => now, sleep: async () => undefined };
  const presign = async (request: PresignRequest) => {
    signed.push(request);
    const expiresAt = new Date(
      Math.min(request.expiresAt.getTime(), end?.(now) ?? Number.POSITIVE_INFINITY),
    );
    return { url: `signed:${signed.length}`, expiresAt };
  };
  const links = createDownloadLinks({ store: { presign }, clock });
  return {
    links,
    signed,
    presign,
    clock,
    at: (minutes: number) => (now = START + minutes * MINUTE),
  };
}

it('signs once per object, method, name and window, at equal times in every process', async () => {
  const { at, links, signed } = setUp();
  const first = links.link(file);
  expect(links.link(file)).toBe(first);
  const link = await first;
  expect(links.link(file)).toBe(link);
  expect(signed).toHaveLength(1);
  expect(signed[0]).toMatchObject({ signedAt: new Date(START) });
  expect(link.expiresAt).toEqual(new Date(START + 30 * MINUTE));
  at(19.99);
  expect(links.link(file)).toBe(link);
  at(20);
  expect((await links.link(file)).expiresAt).toEqual(new Date(START + 50 * MINUTE));
  await links.link({ ...file, method: 'HEAD' });
  await links.link({ ...file, filename: 'c' });
  expect(signed).toHaveLength(4);
});

it('does not cache failures', async () => {
  const { clock, presign } = setUp();
  let calls = 0;
  const links = createDownloadLinks({
    clock,
    store: {
      presign: (request) => {
        calls += 1;
        return calls === 1 ? Promise.reject(new Error('down')) : presign(request);
      },
    },
  });
  await expect(links.link(file)).rejects.toThrow('down');
  expect((await links.link(file)).url).toBe('signed:1');
});

it('signs again before the credentials leave less than ten minutes', async () => {
  // Credentials are valid for 12 minutes from each request for them.
  const { at, links, signed } = setUp((now) => now + 12 * MINUTE);
  await links.link(file);
  at(4.9);
  await links.link(file);
  expect(signed).toHaveLength(1);
  at(5.1);
  const { expiresAt } = await links.link(file);
  expect(signed).toHaveLength(2);
  expect(expiresAt.getTime()).toBe(START + 17.1 * MINUTE);
});

it('signs at most once a minute when the credentials cannot be renewed, and returns no expired link', async () => {
  const { at, links, signed } = setUp(() => START + 8 * MINUTE);
  await links.link(file);
  await links.link(file);
  at(3.9);
  await links.link(file);
  expect(signed).toHaveLength(1);
  at(4.1);
  await links.link(file);
  expect(signed).toHaveLength(2);
  at(8);
  await links.link(file);
  expect(signed).toHaveLength(3);
});

it('answers a cached link without signing', async () => {
  const { links, signed } = setUp();
  const link = await links.link(file);
  for (let call = 0; call < 1_000; call += 1) {
    expect(await links.link(file)).toBe(link);
  }
  expect(signed).toHaveLength(1);
});

it('gives public files their lasting address, and presigns the others', async () => {
  const { at, clock, presign, signed } = setUp();
  const publicAddress = (key: string) => `https://cdn/${key}`;
  const links = createDownloadLinks({ clock, store: { presign }, publicAddress });
  const open = { ...file, isPublic: true };
  const { url, expiresAt } = await links.link(open);
  expect(url).toBe('https://cdn/a/b');
  expect(expiresAt).toEqual(new Date(START + 30 * MINUTE));
  expect(signed).toHaveLength(0);
  expect((await links.link(file)).url).toBe('signed:1');
  at(25);
  expect((await links.link(open)).url).toBe(url);
  const without = createDownloadLinks({ clock, store: { presign } });
  expect((await without.link(open)).url).toBe('signed:2');
});
