import { describe, expect, it } from 'vitest';
import { createRecentDownloads } from '../../../src/server/feeds/recent-downloads.ts';
import { createFixedClock } from '../../support/clock.ts';

const MINUTES = 60_000;

describe('recent downloads', () => {
  const open = () => {
    const clock = createFixedClock();
    const downloads = createRecentDownloads(clock);
    const ask = (headers: Record<string, string> = {}, file = 'a', ip = '192.0.2.1', query = {}) =>
      downloads.isNew({ headers, query, ip }, file);
    return { clock, ask };
  };
  const range = 'bytes=0-1';

  it('count a download once, however many ranges it asks for', () => {
    const { ask, clock } = open();
    expect(ask({ range })).toBe(true);
    for (let n = 0; n < 300; n++) {
      clock.advance(1_000);
      expect(ask({ range })).toBe(false);
    }
  });

  it('count it again after ten minutes without a request', () => {
    const { ask, clock } = open();
    expect(ask({ range })).toBe(true);
    clock.advance(9 * MINUTES);
    expect(ask({ range })).toBe(false);
    clock.advance(9 * MINUTES);
    expect(ask({ range })).toBe(false);
    clock.advance(10 * MINUTES);
    expect(ask({ range })).toBe(true);
  });

  it('count every request for a whole file, except one after ranges', () => {
    const { ask } = open();
    expect([ask(), ask()]).toEqual([true, true]);
    expect(ask({ range })).toBe(false);
    expect([ask(), ask()]).toEqual([false, true]);
  });

  it.each([
    ['a token', { authorization: 'Bearer a' }, { authorization: 'Bearer b' }],
    ['an id of electron-updater', { 'x-user-staging-id': 'a' }, { 'x-user-staging-id': 'b' }],
    ['an id of another client', { 'x-installation-id': 'a' }, { 'x-installation-id': 'b' }],
  ])('know a client by %s, wherever it is', (_what, one, other) => {
    const { ask } = open();
    expect(ask({ range, ...one })).toBe(true);
    expect(ask({ range, ...other })).toBe(true);
    expect(ask({ range, ...one }, 'a', '192.0.2.9')).toBe(false);
    expect(ask({ range, ...one }, 'b')).toBe(true);
    expect(ask({ range })).toBe(true);
  });

  it('know a client by the id in its address, else by its network address', () => {
    const { ask } = open();
    expect(ask({ range }, 'a', '192.0.2.1', { installation_id: 'a' })).toBe(true);
    expect(ask({ range }, 'a', '192.0.2.2', { installation_id: 'a' })).toBe(false);
    expect(ask({ range }, 'a', '192.0.2.1')).toBe(true);
    expect(ask({ range }, 'a', '192.0.2.2')).toBe(true);
    expect(ask({ range }, 'a', '192.0.2.1')).toBe(false);
  });

  it('keep few downloads: the one seen longest ago is forgotten first', () => {
    const { ask } = open();
    for (let n = 0; n < 20_000; n++) ask({ range, 'x-installation-id': `${n}` });
    expect(ask({ range, 'x-installation-id': '0' })).toBe(false);
    expect(ask({ range, 'x-installation-id': 'one more' })).toBe(true);
    expect(ask({ range, 'x-installation-id': '0' })).toBe(false);
    expect(ask({ range, 'x-installation-id': '1' })).toBe(true);
  });
});
