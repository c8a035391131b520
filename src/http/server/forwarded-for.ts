import { isIP } from 'node:net';

/** `X-Forwarded-For`, as proxies write it. */

/** An address, with a port: `203.0.113.9:5678`, `[2001:db8::1]:443`; with quotes in some proxies. */
const WITH_PORT = /^"?(?:\[([^\]]+)\]|([\d.]+))(?::\d{1,5})?"?$/;

/**
 * The same list with bare addresses: ports would make every request one of an address of its own, or of
 * none. What stands left of an entry that is no address is left out: it was not written by a proxy that
 * can be trusted with it, and the client counts as the last proxy then.
 */
export function normalizeForwardedFor(header: string): string {
  const addresses: string[] = [];
  for (const entry of header.split(',').reverse()) {
    // Empty elements of a list are ignored (RFC 9110, section 5.6.1).
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

/** The name of a network interface, as long as systems allow. */
const ZONE = /%[\w.-]{1,15}$/;

/** Node takes a zone of any length and of any characters for a part of an address. */
function isAddress(text: string): boolean {
  return isIP(text) > 0 && !text.replace(ZONE, '').includes('%');
}
