import { describe, expect, it } from 'vitest';
import { createRecentDownloads } from '../../../src/server/feeds/recent-downloads.ts';
import { createFixedClock } from '../../support/clock.ts';

const MINUTES = 60_000;

describe('recent downloads', () => {
  const open = () => {
    const clock = createFixedClock();
    const downloads = createRecentDownloads(clock);
    const ask = (
      headers: Record<string, string> = {},
      artifact = 'a',
      ip = '192.0.2.1',
      query = {},
      more: Partial<Parameters<typeof downloads.note>[1]> = {},
    ) => {
      const counted = downloads.note(
        { headers, query, ip },
        { artifact, isDelta: false, hasBlocks: true, size: 1_000, ...more },
      );
      return counted.length === 0 ? undefined : counted.join(', ');
    };
    /** The requests of one client, which sends its id. */
    const askAs = (headers: Record<string, string> = {}, more = {}) =>
      ask({ 'x-installation-id': 'a client', ...headers }, 'a', '192.0.2.1', {}, more);
    return { clock, ask, askAs };
  };
  const range = 'bytes=0-1';

  it('count a download once, however many ranges it asks for', () => {
    const { askAs: ask, clock } = open();
    expect(ask({ range })).toBe('differential');
    for (let n = 0; n < 300; n++) {
      clock.advance(1_000);
      expect(ask({ range })).toBeUndefined();
    }
  });

  it('count it again after ten minutes without a request', () => {
    const { askAs: ask, clock } = open();
    expect(ask({ range })).toBe('differential');
    clock.advance(9 * MINUTES);
    expect(ask({ range })).toBeUndefined();
    clock.advance(9 * MINUTES);
    expect(ask({ range })).toBeUndefined();
    clock.advance(10 * MINUTES);
    expect(ask({ range })).toBe('differential');
  });

  it('count every request for a whole file, except one after ranges', () => {
    const { askAs: ask } = open();
    expect([ask(), ask()]).toEqual(['whole', 'whole']);
    expect(ask({ range })).toBeUndefined();
    expect([ask(), ask()]).toEqual([undefined, 'whole']);
  });

  it('say that the client fell back to the whole file, once for each differential download', () => {
    const { askAs: ask } = open();
    expect([ask({ range }), ask({ range }), ask(), ask()]).toEqual([
      'differential',
      undefined,
      'fallback',
      'whole',
    ]);
  });

  it.each([
    ['bytes=0-', 'whole'],
    ['bytes=100-', 'resumed'],
    ['bytes=100-199', 'differential'],
    ['bytes=0-1,5-9', 'differential'],
    ['bytes=-100', 'differential'],
    ['bytes=0-999', 'whole'],
    ['bytes=0-5000', 'whole'],
    ['lines=1-2', 'whole'],
  ])('know the kind of a download by its range %s', (range, kind) => {
    expect(open().ask({ range })).toBe(kind);
  });

  it('count the parts of a file without blocks as one whole download', () => {
    const { askAs: ask } = open();
    const part = (range: string) => ask({ range }, { hasBlocks: false });
    expect([part('bytes=0-499'), part('bytes=500-999')]).toEqual(['whole', undefined]);
  });

  it('count each delta, and the whole file after it as a fallback', () => {
    const { askAs: ask } = open();
    const delta = (headers = {}) => ask(headers, { isDelta: true });
    expect([delta(), delta(), delta({ range }), ask(), ask()]).toEqual([
      'differential',
      'differential',
      undefined,
      'fallback',
      'whole',
    ]);
  });

  it.each([
    ['a token', { authorization: 'Bearer a' }, { authorization: 'Bearer b' }],
    ['an id of electron-updater', { 'x-user-staging-id': 'a' }, { 'x-user-staging-id': 'b' }],
    ['an id of another client', { 'x-installation-id': 'a' }, { 'x-installation-id': 'b' }],
  ])('know a client by %s, wherever it is', (_what, one, other) => {
    const { ask } = open();
    expect(ask({ range, ...one })).toBe('differential');
    expect(ask({ range, ...other })).toBe('differential');
    expect(ask({ range, ...one }, 'a', '192.0.2.9')).toBeUndefined();
    expect(ask({ range, ...one }, 'b')).toBe('differential');
    expect(ask({ range })).toBe('differential');
  });

  it('know a client by the id in its address, else by its network address', () => {
    const { ask } = open();
    expect(ask({ range }, 'a', '192.0.2.1', { installation_id: 'a' })).toBe('differential');
    expect(ask({ range }, 'a', '192.0.2.2', { installation_id: 'a' })).toBeUndefined();
    expect(ask({ range }, 'a', '192.0.2.1')).toBe('differential');
    expect(ask({ range }, 'a', '192.0.2.2')).toBe('differential');
    expect(ask({ range: 'bytes=5-9' }, 'a', '192.0.2.1')).toBeUndefined();
  });

  it('know a client by its id when it refreshes its token, or shares it', () => {
    const { ask } = open();
    const of = (id: string, token: string) =>
      ask({ range, authorization: `Bearer ${token}`, 'x-installation-id': id });
    expect([of('a', '1'), of('a', '2'), of('b', '2')]).toEqual([
      'differential',
      undefined,
      'differential',
    ]);
  });

  it('keep few downloads: the one seen longest ago is forgotten first', () => {
    const { ask } = open();
    for (let n = 0; n < 20_000; n++) ask({ range, 'x-installation-id': `${n}` });
    expect(ask({ range, 'x-installation-id': '0' })).toBeUndefined();
    expect(ask({ range, 'x-installation-id': 'one more' })).toBe('differential');
    expect(ask({ range, 'x-installation-id': '0' })).toBeUndefined();
    expect(ask({ range, 'x-installation-id': '1' })).toBe('differential');
  });
});
