import type { IncomingMessage } from 'node:http';
import fc from 'fast-check';
import fastify from 'fastify';
import { describe, expect, it } from 'vitest';
import { createAddressReader, normalizeForwarded } from '../../../src/server/http/forwarded-for.ts';

const ADDRESSES = ['203.0.113.9', '10.0.0.7', '127.0.0.1', '2001:db8::1', '::ffff:10.0.0.7'];

/** The log and the limits must see the same address of a client. */
describe('the address of a client', () => {
  it.each([false, true, '10.0.0.0/8, 127.0.0.1', 'loopback', '2001:db8::/32'])(
    'is the same as for Fastify, when it trusts %s',
    async (trustProxy) => {
      const app = fastify({ trustProxy });
      const addressOf = createAddressReader(trustProxy);
      let seen: readonly unknown[] = [];
      app.get('/', (request, reply) => {
        normalizeForwarded(request.raw as IncomingMessage);
        seen = [addressOf(request.raw), request.ip];
        reply.send('');
      });
      const entry = fc.oneof(
        fc.constantFrom(...ADDRESSES),
        fc.constantFrom('10.0.0.7:80', '[2001:db8::1]:443', 'unknown', '', ' '),
      );
      await fc.assert(
        fc.asyncProperty(
          fc.constantFrom(...ADDRESSES),
          fc.option(fc.array(entry, { maxLength: 4 })),
          async (remoteAddress, entries) => {
            const headers = entries === null ? {} : { 'x-forwarded-for': entries.join(', ') };
            await app.inject({ url: '/', remoteAddress, headers });
            expect(seen[0]).toBe(seen[1]);
          },
        ),
      );
      await app.close();
    },
  );
});
