import fc from 'fast-check';
import type { FastifyReply } from 'fastify';
import { describe, expect, it } from 'vitest';
import { createOffload, type Offload } from '../../../src/server/bytes/offload.ts';
import { parseKey } from '../../../src/store/key.ts';

const OBJECTS = '/var/lib/slipway/objects';
const KEY = 'apps/desktop/artifacts/00/a.exe';

const ask = (change: object = {}) => ({
  method: 'GET',
  headers: {},
  ips: ['127.0.0.1', '203.0.113.7'],
  ...change,
});

/** The place that an answer names. */
function placeIn(handOver: ReturnType<Offload>): string {
  let place = '';
  const reply = {
    code: () => reply,
    removeHeader: () => reply,
    header: (name: string, value: unknown) => {
      if (name.startsWith('x-')) place = String(value);
      return reply;
    },
  };
  handOver?.(reply as unknown as FastifyReply);
  return place;
}

describe('a file is handed over to the proxy', () => {
  it('by its address inside nginx, or by its path', () => {
    const [nginx, caddy] = (['x-accel-redirect', 'x-sendfile'] as const).map((header) =>
      createOffload(header, OBJECTS),
    );
    expect(placeIn(nginx?.(ask(), 200, KEY))).toBe(`/slipway-files/${KEY}`);
    expect(placeIn(caddy?.(ask(), 200, KEY))).toBe(`${OBJECTS}/${KEY}`);
    expect(createOffload('off', OBJECTS)).toBeUndefined();
  });

  it.each([
    ['HEAD', ask({ method: 'HEAD' }), 200],
    ['a client without a proxy', ask({ ips: ['127.0.0.1'] }), 200],
    ['a service that trusts no proxy', ask({ ips: undefined }), 200],
    ['a condition', ask({ headers: { 'if-none-match': '"a"' } }), 200],
    ['a range that does not count', ask({ headers: { range: 'bytes=7-3' } }), 200],
    ['several ranges', ask({ headers: { range: 'bytes=0-1,5-9' } }), 206],
  ])('but not for %s', (_what, request, status) => {
    expect(createOffload('x-accel-redirect', OBJECTS)?.(request, status, KEY)).toBeUndefined();
  });

  it('but not a file outside of the applications', () => {
    expect(createOffload('x-accel-redirect', OBJECTS)?.(ask(), 200, 'probe/1')).toBeUndefined();
  });

  it('whose decoded place is always below the directory', () => {
    const offload = createOffload('x-accel-redirect', OBJECTS);
    const segment = fc.oneof(
      fc.string({ unit: 'grapheme', minLength: 1 }),
      fc.constantFrom('..', '.', '%2e%2e', 'CON', 'a?b', 'a#b', 'a%00b'),
    );
    fc.assert(
      fc.property(fc.array(segment, { minLength: 1, maxLength: 5 }), (segments) => {
        const key = ['apps', ...segments].join('/');
        try {
          parseKey(key);
        } catch {
          return;
        }
        const place = placeIn(offload?.(ask(), 200, key));
        expect(place).toMatch(/^\/slipway-files(?:\/[\w.!%-]+)+$/);
        expect(decodeURIComponent(place).split('/')).not.toContain('..');
      }),
    );
  });
});
