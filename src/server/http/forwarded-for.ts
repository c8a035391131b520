import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import proxyAddr from '@fastify/proxy-addr';

/** `X-Forwarded-For`: the list of addresses that a request came through, as proxies write it. */

/** Normalizes the header before Fastify takes the client's address from it. Fastify does so only with `trustProxy`. */
export function normalizeForwarded({ headers }: IncomingMessage): void {
  const header = headers['x-forwarded-for'];
  if (header !== undefined) headers['x-forwarded-for'] = normalizeForwardedFor(String(header));
}

/**
 * Creates a function that returns the same address as Fastify's `request.ip`, for a request that does not reach
 * Fastify. The header of the request is normalized already.
 */
export function createAddressReader(
  trustProxy: boolean | string,
): (request: IncomingMessage) => string | undefined {
  if (trustProxy === false) return ({ socket }) => socket.remoteAddress;
  const isTrusted =
    trustProxy === true
      ? () => true
      : proxyAddr.compile(trustProxy.split(',').map((proxy) => proxy.trim()));
  return (request) => proxyAddr.all(request, isTrusted).at(-1);
}

/** An address with a port: `203.0.113.9:5678`, `[2001:db8::1]:443`. Some proxies add quotes. */
const WITH_PORT = /^"?(?:\[([^\]]+)\]|([\d.]+))(?::\d{1,5})?"?$/;

/**
 * The same list without ports: with a port, the rate limits would treat every request as another client. An invalid
 * entry and all entries to its left are dropped, because no trustworthy proxy wrote them. The last proxy then counts as
 * the client.
 */
export function normalizeForwardedFor(header: string): string {
  const addresses: string[] = [];
  for (const entry of header.split(',').reverse()) {
    // A recipient ignores empty list elements (RFC 9110, section 5.6.1).
    if (entry.trim() === '') continue;
    const address = addressOf(entry.trim());
    if (address === undefined) break;
    addresses.unshift(address);
  }
  return addresses.join(', ');
}

function addressOf(entry: string): string | undefined {
  if (isAddress(entry)) return entry;
  const [, bracketed, plain] = WITH_PORT.exec(entry) ?? [];
  const address = bracketed ?? plain ?? '';
  return isAddress(address) ? address : undefined;
}

/** A zone: the name of a network interface, of at most 15 characters (Linux's IFNAMSIZ). */
const ZONE = /%[\w.-]{1,15}$/;

/** Checks the zone as well, because Node accepts a zone of any length with any characters. */
function isAddress(text: string): boolean {
  return isIP(text) > 0 && !text.replace(ZONE, '').includes('%');
}
