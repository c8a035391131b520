import fc from 'fast-check';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { isAppError } from '../../../src/core/errors.ts';
import { normalizeForwardedFor } from '../../../src/server/http/forwarded-for.ts';
import { createAddressLimit, networkOf } from '../../../src/server/limits/address-limit.ts';
import { buildBase } from '../../../src/server/set-up/base-server.ts';

describe('the network of an address', () => {
  it.each([
    ['198.51.100.7', '198.51.100.7'],
    // An IPv4 address as a dual-stack socket reports it.
    ['::ffff:198.51.100.7', '198.51.100.7'],
    ['::FFFF:c633:6407', '198.51.100.7'],
    ['2001:db8:1:2::1', '2001:db8:1:2::/64'],
    ['2001:0db8:0001:0002:ffff:ffff:ffff:ffff', '2001:db8:1:2::/64'],
    ['2001:db8:1:3::1', '2001:db8:1:3::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['', 'unknown'],
    ['nonsense', 'unknown'],
    ['unknown', 'unknown'],
    ['198.51.100.7, 203.0.113.9', 'unknown'],
    ['__proto__', 'unknown'],
  ])('%j is %s', (address, network) => {
    expect(networkOf(address)).toBe(network);
  });

  it('never throws, and is the same for all addresses of a subscriber', () => {
    const group = fc.integer({ min: 0, max: 0xffff }).map((part) => part.toString(16));
    const groups = (length: number) => fc.array(group, { minLength: length, maxLength: length });
    fc.assert(
      // 1 avoids the prefixes of IPv4-mapped addresses.
      fc.property(groups(3), groups(4), groups(4), (network, one, other) => {
        const prefix = ['2001', ...network].join(':');
        expect(networkOf(`${prefix}:${one.join(':')}`)).toBe(
          networkOf(`${prefix}:${other.join(':')}`),
        );
      }),
    );
    fc.assert(fc.property(fc.string(), (text) => typeof networkOf(text) === 'string'));
  });
});

describe('X-Forwarded-For', () => {
  it.each([
    ['203.0.113.9', '203.0.113.9'],
    ['203.0.113.9:5678', '203.0.113.9'],
    ['[2001:db8::1]:443', '2001:db8::1'],
    ['"[2001:db8::1]:443"', '2001:db8::1'],
    ['[2001:db8::1]', '2001:db8::1'],
    ['2001:db8::1', '2001:db8::1'],
    ['203.0.113.9:1, 10.0.0.5:2,10.0.0.6', '203.0.113.9, 10.0.0.5, 10.0.0.6'],
    // An entry that the client invented, before the one that a proxy added.
    ['nonsense, 203.0.113.9:1', '203.0.113.9'],
    ['10.0.0.5, unknown, 203.0.113.9', '203.0.113.9'],
    // Empty elements are ignored (RFC 9110, section 5.6.1).
    ['203.0.113.9, ', '203.0.113.9'],
    ['203.0.113.9,, 10.0.0.1,', '203.0.113.9, 10.0.0.1'],
    [',,', ''],
    ['fe80::1%eth0.1', 'fe80::1%eth0.1'],
    [`fe80::1%${'z'.repeat(9_000)}`, ''],
    ['[fe80::1%a b]:443', ''],
    ['203.0.113.9:port', ''],
    ['203.0.113.999:1', ''],
    ['unknown', ''],
    ['', ''],
  ])('%j names %j', (header, addresses) => {
    expect(normalizeForwardedFor(header)).toBe(addresses);
  });
});

describe('behind a proxy', () => {
  const ipsOf = async (trustProxy: string | boolean, headers: readonly string[]) => {
    const app = await buildBase({ logger: pino({ level: 'silent' }), trustProxy }, new Registry());
    app.get('/ip', (request, reply) => void reply.send({ ip: request.ip }));
    const ips = [];
    for (const header of headers) {
      const answer = await app.inject({ url: '/ip', headers: { 'x-forwarded-for': header } });
      ips.push(answer.json().ip);
    }
    await app.close();
    return ips;
  };

  it('clients are distinguished in every format in which proxies write addresses', async () => {
    const headers = [
      '203.0.113.9:5678',
      '[2001:db8::1]:443',
      '198.51.100.1, 203.0.113.9:5678',
      '203.0.113.9:5678, 127.0.0.1:9999',
      'nonsense',
    ];
    expect(await ipsOf('127.0.0.1', headers)).toEqual([
      '203.0.113.9',
      '2001:db8::1',
      '203.0.113.9',
      '203.0.113.9',
      '127.0.0.1',
    ]);
    expect(await ipsOf(false, headers)).toEqual(headers.map(() => '127.0.0.1'));
  });
});

describe('a limit per address', () => {
  const refusalOf = (limit: { consume(address: string): Promise<void> }, address: string) =>
    limit.consume(address).then(
      () => undefined,
      (error: unknown) => (isAppError(error, 'too_many_requests') ? error : Promise.reject(error)),
    );

  it('allows the configured number of requests, and refuses more with 429', async () => {
    const limit = createAddressLimit({ name: 'requests', perMinute: 3 });
    for (let n = 0; n < 3; n++) expect(await refusalOf(limit, '198.51.100.7')).toBeUndefined();
    const refused = await refusalOf(limit, '::ffff:198.51.100.7');
    expect(refused?.retryAfterSeconds).toBeGreaterThan(0);
    expect(refused?.retryAfterSeconds).toBeLessThanOrEqual(60);
    expect(await refusalOf(limit, '198.51.100.8')).toBeUndefined();
  });

  it('counts a /64 as one address, and the next /64 as another', async () => {
    const limit = createAddressLimit({ name: 'requests', perMinute: 2 });
    const answers = [];
    for (const host of ['1', '2', 'ffff', 'dead:beef']) {
      answers.push(await refusalOf(limit, `2001:db8::${host}`));
    }
    expect(answers.map((refused) => refused?.code)).toEqual([
      undefined,
      undefined,
      'too_many_requests',
      'too_many_requests',
    ]);
    expect(await refusalOf(limit, '2001:db8:0:1::1')).toBeUndefined();
  });

  it('is exact for simultaneous requests', async () => {
    const limit = createAddressLimit({ name: 'requests', perMinute: 20 });
    const answers = await Promise.all(
      Array.from({ length: 200 }, () => refusalOf(limit, '198.51.100.7')),
    );
    expect(answers.filter((refused) => refused === undefined)).toHaveLength(20);
  });
});
