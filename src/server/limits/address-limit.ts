import ipaddr from 'ipaddr.js';
import { createRateLimit } from '../../core/rate-limit.ts';

/** The number of requests that a client address may send per minute to this process, or to its workers together. */
export interface AddressLimit {
  /** @throws AppError `too_many_requests` */
  consume(address: string): Promise<void>;
}

/** @param options.name different for each limit */
export function createAddressLimit(options: {
  readonly name: string;
  readonly perMinute: number;
}): AddressLimit {
  const sentence = 'Too many requests. Wait a little, then try again.';
  const limit = createRateLimit(options.name, options.perMinute, sentence);
  return { consume: (address) => limit.consume(networkOf(address)) };
}

/**
 * The network of an address: an IPv4 address itself, or the /64 of an IPv6 address, because a subscriber has at least a
 * /64.
 */
export function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return 'unknown';
  const parsed = ipaddr.process(address);
  if (parsed instanceof ipaddr.IPv4) return parsed.toString();
  const network = parsed.parts.slice(0, 4).map((part) => part.toString(16));
  return `${network.join(':')}::/64`;
}
